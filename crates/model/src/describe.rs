//! What is to be known of a model to ask it: provider, protocol, capabilities, limits, options.

use annalist_schema::raw::Object;

/// How a provider is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// OpenAI chat completions, and everything compatible with it.
    Chat,
    /// OpenAI responses.
    Responses,
    /// Anthropic messages.
    Anthropic,
    /// Google generative language.
    Google,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Protocol; 4] = [Protocol::Chat, Protocol::Responses, Protocol::Anthropic, Protocol::Google];

    /// The protocol of an npm package of the reference's providers; an unknown one speaks chat completions.
    #[must_use]
    pub fn of_npm(npm: &str) -> Self {
        match npm {
            "@ai-sdk/anthropic" | "@ai-sdk/google-vertex/anthropic" => Protocol::Anthropic,
            "@ai-sdk/openai" | "@ai-sdk/azure" | "@ai-sdk/amazon-bedrock/mantle" => Protocol::Responses,
            "@ai-sdk/google" | "@ai-sdk/google-vertex" => Protocol::Google,
            _ => Protocol::Chat,
        }
    }

    /// The key of `metadata` under which the provider's own data lies (reference 1.6, 8).
    #[must_use]
    pub fn metadata_key(self) -> &'static str {
        match self {
            Protocol::Chat => "openaiCompatible",
            Protocol::Responses => "openai",
            Protocol::Anthropic => "anthropic",
            Protocol::Google => "google",
        }
    }
}

/// What kinds of input a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modalities {
    /// `audio/*`
    pub audio: bool,
    /// `image/*`
    pub image: bool,
    /// `video/*`
    pub video: bool,
    /// `application/pdf`
    pub pdf: bool,
}

/// What a model can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// It takes a temperature.
    pub temperature: bool,
    /// What it takes beside text.
    pub input: Modalities,
    /// The field of an assistant's message that takes its thoughts back, such as `reasoning_content`, where the provider
    /// wants them in one of its own (`capabilities.interleaved.field`).
    pub interleaved: Option<String>,
}

/// Sizes in tokens; 0 is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Input and output together.
    pub context: u64,
    /// Input alone, where the provider says so.
    pub input: Option<u64>,
    /// Output.
    pub output: u64,
}

/// A model of a provider.
#[derive(Debug, Clone)]
pub struct Model {
    /// The provider, as configured.
    pub provider_id: String,
    /// The model, as messages name it.
    pub model_id: String,
    /// The model, as the provider names it.
    pub api_id: String,
    /// The npm package that the reference would use, such as `@ai-sdk/anthropic`. Some rules go by it.
    pub npm: String,
    /// How it is talked to.
    pub protocol: Protocol,
    /// What it can do.
    pub capabilities: Capabilities,
    /// How much it takes.
    pub limits: Limits,
    /// Members of the request's body, by the protocol's own names; they win over those of this crate.
    pub options: Object<'static>,
}

impl Model {
    /// A model that takes images and PDF, talked to as the npm package does.
    #[must_use]
    pub fn new(provider_id: &str, model_id: &str, npm: &str) -> Self {
        Model {
            provider_id: provider_id.to_owned(),
            model_id: model_id.to_owned(),
            api_id: model_id.to_owned(),
            npm: npm.to_owned(),
            protocol: Protocol::of_npm(npm),
            capabilities: Capabilities {
                temperature: true,
                input: Modalities { audio: false, image: true, video: false, pdf: true },
                interleaved: None,
            },
            limits: Limits::default(),
            options: Object::new(),
        }
    }

    /// Whether the provider's name for the model, or ours, has one of the words in it, in any case.
    #[must_use]
    pub fn is_of(&self, words: &[&str]) -> bool {
        let names = [self.api_id.to_lowercase(), self.model_id.to_lowercase()];
        words.iter().any(|word| names.iter().any(|name| name.contains(word)))
    }

    /// Whether OpenRouter is asked, which has fields of its own in chat completions.
    #[must_use]
    pub fn is_openrouter(&self) -> bool {
        self.npm.starts_with("@openrouter/")
    }

    /// Whether it is one of Mistral's, which want call ids of nine letters and digits and no question after a result.
    #[must_use]
    pub fn is_mistral(&self) -> bool {
        self.provider_id == "mistral" || self.is_of(&["mistral", "devstral", "codestral", "pixtral", "mixtral"])
    }

    /// Whether Claude answers, behind whichever protocol.
    #[must_use]
    pub fn is_claude(&self) -> bool {
        self.protocol == Protocol::Anthropic || self.is_of(&["claude", "anthropic"])
    }

    /// The field of an assistant's message that always takes its thoughts, if only none (reference 1.6, 5 and 6).
    #[must_use]
    pub fn thought_field(&self) -> Option<&str> {
        self.capabilities.interleaved.as_deref().or_else(|| self.is_of(&["deepseek"]).then_some("reasoning_content"))
    }
}
