//! The bodies of the four protocols, written into a writer.
