//! What the providers demand of a request, written down rule by rule.
