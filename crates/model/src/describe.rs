//! What is to be known of a model to ask it: provider, protocol, capabilities, limits, options.
