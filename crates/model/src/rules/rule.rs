//! The rules, each with where it is known from.

use std::fmt;

macro_rules! rules {
    ($( $(#[$doc:meta])* $name:ident = $wire:literal, $source:literal; )*) => {
        /// A rule of a provider that a request must obey.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $( $(#[$doc])* #[doc = ""] #[doc = concat!("Known from: ", $source)] $name, )*
        }

        impl Rule {
            /// All of them.
            pub const ALL: &'static [Rule] = &[$(Rule::$name),*];

            /// A short name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Rule::$name => $wire),* }
            }

            /// Where it is known from: a provider's answer, its documentation, or a report.
            #[must_use]
            pub fn source(self) -> &'static str {
                match self { $(Rule::$name => $source),* }
            }
        }
    };
}

rules! {
    /// There is at least one message.
    NoMessages = "no-messages",
        "Anthropic: \"messages: at least one message is required\"; Google: \"contents is not specified\"";
    /// The first message is the person's (Anthropic, Google, Mistral).
    FirstRole = "first-role",
        "Anthropic: \"first message must use the user role\"; Google: \"function call turn comes immediately after a user turn\"";
    /// The last message is the person's, or has the results of tools (Anthropic, Google, Mistral, Claude elsewhere).
    LastRole = "last-role",
        "Anthropic: \"does not support assistant message prefill. The conversation must end with a user message\"; Mistral: \"Expected last role User or Tool\"; anomalyco/opencode#18421";
    /// No text without a character that is not white space.
    BlankText = "blank-text",
        "Anthropic: \"text content blocks must contain non-whitespace text\"; anomalyco/opencode#24087";
    /// No message without content; an answer has text or calls, thoughts alone are none.
    EmptyMessage = "empty-message",
        "Anthropic: \"all messages must have non-empty content\"; DeepSeek: \"content or tool_calls must be set\"; Google: \"must include at least one parts field\"";
    /// Each call has exactly one result, directly behind its message (in responses: somewhere behind it).
    CallWithoutResult = "call-without-result",
        "OpenAI: \"must be followed by tool messages responding to each tool_call_id\", \"No tool output found for function call\"; Anthropic: \"tool_use ids were found without tool_result blocks immediately after\"; Google: \"number of function response parts is equal to the number of function call parts\"; anomalyco/opencode#21326";
    /// Each result is of a call directly before it, and the only one.
    ResultWithoutCall = "result-without-call",
        "OpenAI: \"messages with role 'tool' must be a response to a preceding message with 'tool_calls'\"; Anthropic: \"unexpected tool_use_id found in tool_result blocks\"; anomalyco/opencode#25774";
    /// Results stand before everything else that the person says (Anthropic).
    ResultsFirst = "results-first",
        "Anthropic's documentation of tool use: tool_result blocks come first in the content, text after all of them";
    /// Calls stand behind everything else of an answer, except where thoughts follow them (Anthropic).
    CallsLast = "calls-last",
        "the reference's package for this provider moves them there (recorded: text-after-tool-in-one-step)";
    /// No two calls have the same id.
    RepeatedCallId = "repeated-call-id",
        "Anthropic: \"`tool_use` ids must be unique\"; anomalyco/opencode#1279";
    /// Call ids have the provider's form: not empty, not too long, of its characters.
    CallIdForm = "call-id-form",
        "Anthropic: \"String should match pattern '^[a-zA-Z0-9_-]+$'\"; OpenAI: \"string too long. Expected a string with maximum length 40\" (anomalyco/opencode#12653; responses 64, AnswerDotAI/fastllm#45); Mistral: \"must be a-z, A-Z, 0-9, with a length of 9\"";
    /// Names of tools have the provider's form.
    ToolName = "tool-name",
        "OpenAI: \"Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'\", at most 64; Anthropic the same, at most 128; Google: \"must start with a letter or an underscore\"";
    /// What a tool is asked is an object.
    ToolInput = "tool-input",
        "Anthropic: \"tool_use.input: Input should be a valid dictionary\"; Google: args is a Struct";
    /// No half of a surrogate pair, also inside the text of arguments.
    LoneSurrogate = "lone-surrogate",
        "Anthropic: \"no low surrogate in string\"; anomalyco/opencode#13988";
    /// Thoughts that are sent back carry what the provider signed them with (Anthropic).
    ReasoningSigned = "reasoning-signed",
        "Anthropic: \"thinking.signature: Field required\"; openclaw/openclaw#120596";
    /// An answer with thoughts in it begins with thoughts (Anthropic).
    ReasoningFirst = "reasoning-first",
        "Anthropic: \"If an assistant message contains any thinking blocks, the first block must be thinking or redacted_thinking\"; anthropics/claude-code#20705";
    /// An answer does not end with thoughts (Anthropic).
    ReasoningLast = "reasoning-last",
        "Anthropic: \"The final block in an assistant message cannot be `thinking`\"; tailcallhq/forgecode#2107";
    /// Thoughts are followed by what they led to (responses).
    ReasoningFollowed = "reasoning-followed",
        "OpenAI: \"of type 'reasoning' was provided without its required following item\"; anomalyco/opencode#2941, openai/codex#1235";
    /// The same thoughts are sent once (responses).
    ReasoningTwice = "reasoning-twice",
        "OpenAI: \"Duplicate item found with id\"; vercel/ai#7883, anomalyco/opencode#33934";
    /// The first call of an answer carries a signature (Gemini 3).
    CallSigned = "call-signed",
        "Google: \"Function call is missing a thought_signature\"; strands-agents/sdk-python#1298. Its documentation names the value for calls that have none";
    /// An answer with calls stands directly behind the person's turn (Google).
    CallTurn = "call-turn",
        "Google: \"function call turn comes immediately after a user turn or after a function response turn\"";
    /// The person does not speak directly after a result (Mistral).
    QuestionAfterResult = "question-after-result",
        "Mistral: \"Unexpected role 'user' after role 'tool'\"";
    /// Files are of media types that the provider takes.
    MediaType = "media-type",
        "Anthropic: \"media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'\"; OpenAI: \"unsupported image\"; Google: \"Unsupported MIME type\"; anomalyco/opencode#7235";
    /// Files are what they are called: base64, not empty, of their media type.
    MediaData = "media-data",
        "Anthropic: \"The image was specified using the image/png media type, but does not appear to be one\"; OpenAI: \"Invalid base64 image_url\"";
    /// Files that are not in the request are at a web address (and, in chat completions, images).
    MediaUrl = "media-url",
        "the reference: \"URL scheme must be http, https, or data\"; Anthropic: \"Only HTTPS URLs are supported\"";
    /// No image is too large in bytes.
    MediaSize = "media-size",
        "Anthropic: \"image exceeds 5 MB maximum\"; anomalyco/opencode#21668";
    /// No image is too large in pixels (Anthropic).
    MediaPixels = "media-pixels",
        "Anthropic: \"At least one of the image dimensions exceed max allowed size: 8000 pixels\", 2000 for many-image requests";
    /// There are not too many images.
    MediaCount = "media-count",
        "Anthropic's documentation of vision: 100 images a request; OpenAI's: 500; Google's: 3,000";
    /// A request with files in it is not too large.
    MediaTotal = "media-total",
        "Anthropic: 413 \"Request exceeds the maximum size\" (32 MB); OpenAI 50 MB; Google 20 MB inline; anomalyco/opencode#14562";
    /// At most four places to cache (Anthropic).
    CacheMarks = "cache-marks",
        "Anthropic: \"A maximum of 4 blocks with cache_control may be provided\"";
    /// The body is JSON with a conversation in it.
    Body = "body", "all protocols";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
