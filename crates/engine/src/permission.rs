//! What a tool may do: rules, questions, answers.
