//! Names of models.

use std::borrow::Cow;

object! {
    /// A model as messages name it.
    pub struct ModelRef {
        /// The provider, as configured.
        required "providerID" provider_id / set_provider_id: Cow<'_, str>,
        /// The model, by the provider's name.
        required "modelID" model_id / set_model_id: Cow<'_, str>,
        /// A named set of options, such as an effort of reasoning.
        optional "variant" variant / set_variant: Cow<'_, str>,
    }
}

object! {
    /// A model as sessions name it: `id` instead of `modelID`, and the variant is `default` where messages have none
    /// (reference-storage 1.1, 2.4).
    pub struct SessionModel {
        /// The model, by the provider's name.
        required "id" id / set_id: Cow<'_, str>,
        /// The provider, as configured.
        required "providerID" provider_id / set_provider_id: Cow<'_, str>,
        /// A named set of options.
        optional "variant" variant / set_variant: Cow<'_, str>,
    }
}

impl ModelRef<'static> {
    /// A model of a provider.
    #[must_use]
    pub fn new(provider_id: &str, model_id: &str) -> Self {
        let mut model = ModelRef::default();
        model.set_provider_id(provider_id.into()).set_model_id(model_id.into());
        model
    }
}

impl SessionModel<'static> {
    /// A model of a provider with a variant, `default` for none.
    #[must_use]
    pub fn new(provider_id: &str, model_id: &str, variant: Option<&str>) -> Self {
        let mut model = SessionModel::default();
        model.set_id(model_id.into()).set_provider_id(provider_id.into());
        model.set_variant(Some(variant.unwrap_or("default").into()));
        model
    }
}
