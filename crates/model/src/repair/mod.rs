//! Changes that make a conversation one that the provider accepts, each told in a report.
