//! How an answer failed.

use crate::field::Map;
use crate::raw::{Json, Object};
use std::borrow::Cow;

tagged! {
    /// The error of an assistant message: a name, and data by name (reference-engine 2.1).
    ///
    /// Older histories have shorter names; they read as the new ones and stay written as they are.
    pub enum MessageError by "name", "error name" {
        "ProviderAuthError" | "AuthError" => ProviderAuth(ProviderAuthError),
        "UnknownError" => UnknownError(UnknownError),
        "MessageOutputLengthError" | "OutputLengthError" => OutputLength(MessageOutputLengthError),
        "MessageAbortedError" | "AbortedError" => Aborted(MessageAbortedError),
        "StructuredOutputError" => StructuredOutput(StructuredOutputError),
        "ContextOverflowError" => ContextOverflow(ContextOverflowError),
        "ContentFilterError" => ContentFilter(ContentFilterError),
        "APIError" => Api(ApiError),
    }
}

object! {
    /// The provider has no key, or refused it.
    pub struct ProviderAuthError {
        /// Of which provider.
        required "data" data / set_data: ProviderAuthErrorData<'_>,
    }
}

object! {
    /// Data of [`ProviderAuthError`].
    pub struct ProviderAuthErrorData {
        /// The provider, as configured.
        required "providerID" provider_id / set_provider_id: Cow<'_, str>,
        /// For people.
        required "message" message / set_message: Cow<'_, str>,
    }
}

object! {
    /// Anything else that went wrong.
    pub struct UnknownError {
        /// What.
        required "data" data / set_data: UnknownErrorData<'_>,
    }
}

object! {
    /// Data of [`UnknownError`].
    pub struct UnknownErrorData {
        /// For people.
        required "message" message / set_message: Cow<'_, str>,
        /// Finds the failure in the log.
        optional "ref" reference / set_reference: Cow<'_, str>,
    }
}

object! {
    /// The answer was longer than the model may write.
    pub struct MessageOutputLengthError {
        /// Empty.
        required "data" data / set_data: Object<'_>,
    }
}

object! {
    /// Somebody stopped it.
    pub struct MessageAbortedError {
        /// How it was said.
        required "data" data / set_data: MessageAbortedErrorData<'_>,
    }
}

object! {
    /// Data of [`MessageAbortedError`].
    pub struct MessageAbortedErrorData {
        /// For people. Absent where an older name stands.
        optional "message" message / set_message: Cow<'_, str>,
    }
}

object! {
    /// The answer did not fit the JSON schema that was asked for.
    pub struct StructuredOutputError {
        /// What.
        required "data" data / set_data: StructuredOutputErrorData<'_>,
    }
}

object! {
    /// Data of [`StructuredOutputError`].
    pub struct StructuredOutputErrorData {
        /// For people.
        required "message" message / set_message: Cow<'_, str>,
        /// How often it was asked again.
        required "retries" retries / set_retries: u64,
    }
}

object! {
    /// The history is longer than the model can read.
    pub struct ContextOverflowError {
        /// What.
        required "data" data / set_data: ContextOverflowErrorData<'_>,
    }
}

object! {
    /// Data of [`ContextOverflowError`].
    pub struct ContextOverflowErrorData {
        /// For people.
        required "message" message / set_message: Cow<'_, str>,
        /// What the provider answered.
        optional "responseBody" response_body / set_response_body: Cow<'_, str>,
    }
}

object! {
    /// The provider refused the content.
    pub struct ContentFilterError {
        /// What.
        required "data" data / set_data: ContentFilterErrorData<'_>,
    }
}

object! {
    /// Data of [`ContentFilterError`].
    pub struct ContentFilterErrorData {
        /// For people.
        required "message" message / set_message: Cow<'_, str>,
    }
}

object! {
    /// The provider answered with an error, or not at all.
    pub struct ApiError {
        /// What.
        required "data" data / set_data: ApiErrorData<'_>,
    }
}

object! {
    /// Data of [`ApiError`].
    pub struct ApiErrorData {
        /// For people.
        required "message" message / set_message: Cow<'_, str>,
        /// The HTTP status.
        optional "statusCode" status_code / set_status_code: u64,
        /// Whether it is worth trying again.
        required "isRetryable" is_retryable / set_is_retryable: bool,
        /// The answer's headers.
        optional "responseHeaders" response_headers / set_response_headers: Map<'_, Cow<'_, str>>,
        /// The answer's body.
        optional "responseBody" response_body / set_response_body: Cow<'_, str>,
        /// More about it, such as the URL.
        optional "metadata" metadata / set_metadata: Map<'_, Cow<'_, str>>,
    }
}

fn named(name: &str, data: Object<'_>) -> MessageError<'static> {
    let mut object = Object::tagged("name", name);
    object.set("data", data);
    MessageError::from_object(object)
}

fn with_message(message: &str) -> Object<'static> {
    Object::tagged("message", message)
}

impl MessageError<'static> {
    /// A `ProviderAuthError`.
    #[must_use]
    pub fn provider_auth(provider_id: &str, message: &str) -> Self {
        let mut data = ProviderAuthErrorData::default();
        data.set_provider_id(provider_id.into()).set_message(message.into());
        named("ProviderAuthError", data.into_object())
    }

    /// An `UnknownError`.
    #[must_use]
    pub fn unknown(message: &str) -> Self {
        named("UnknownError", with_message(message))
    }

    /// A `MessageOutputLengthError`.
    #[must_use]
    pub fn output_length() -> Self {
        named("MessageOutputLengthError", Object::new())
    }

    /// A `MessageAbortedError`.
    #[must_use]
    pub fn aborted(message: &str) -> Self {
        named("MessageAbortedError", with_message(message))
    }

    /// A `StructuredOutputError`.
    #[must_use]
    pub fn structured_output(message: &str, retries: u64) -> Self {
        let mut data = StructuredOutputErrorData::default();
        data.set_message(message.into()).set_retries(retries);
        named("StructuredOutputError", data.into_object())
    }

    /// A `ContextOverflowError`.
    #[must_use]
    pub fn context_overflow(message: &str, response_body: Option<&str>) -> Self {
        let mut data = ContextOverflowErrorData::from_object(with_message(message));
        data.set_response_body(response_body.map(Cow::Borrowed));
        named("ContextOverflowError", data.into_object())
    }

    /// A `ContentFilterError`.
    #[must_use]
    pub fn content_filter(message: &str) -> Self {
        named("ContentFilterError", with_message(message))
    }

    /// An `APIError`.
    #[must_use]
    pub fn api(data: ApiErrorData<'_>) -> Self {
        named("APIError", data.into_object())
    }
}

impl ApiErrorData<'static> {
    /// The two fields that are always there; the others have setters.
    #[must_use]
    pub fn new(message: &str, is_retryable: bool) -> Self {
        let mut data = ApiErrorData::from_object(with_message(message));
        data.set_is_retryable(is_retryable);
        data
    }
}

impl MessageError<'_> {
    /// The text for people, of whatever error; nothing if there is none.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        self.object().get("data").and_then(Json::as_object)?.text("message").map(Cow::into_owned)
    }
}
