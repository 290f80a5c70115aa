//! The state of the work tree before and after a step, kept with git.
