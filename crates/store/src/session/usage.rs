//! What a session cost, and how much of that was spent before it began.

use super::delete::with_children;
use super::expected;
use crate::error::Error;
use crate::store::Store;

/// US dollars and tokens of a session's steps.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// US dollars of steps in messages made before the session: a fork brings them along, and its source has them too. Sums
    /// over several sessions leave them out.
    pub inherited: f64,
    /// US dollars of its own steps.
    pub own: f64,
    /// tokens of its own steps: input, output, reasoning, cache read, cache write
    pub tokens: [i64; 5],
}

impl Store {
    /// What a session cost by its `step-finish` parts, inherited steps apart.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the session is not there; those of the backend.
    pub fn spent(&self, session: &str) -> Result<Spent, Error> {
        self.read(|view| {
            expected(view, session)?;
            view.spent(session)
        })
    }

    /// The same for a session and all that came of it (children and their children), added up.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the session is not there; those of the backend.
    pub fn spent_with_children(&self, session: &str) -> Result<Spent, Error> {
        self.read(|view| {
            let mut sum = Spent::default();
            for session in with_children(view, session)? {
                let spent = view.spent(&session)?;
                sum.inherited += spent.inherited;
                sum.own += spent.own;
                for (sum, one) in sum.tokens.iter_mut().zip(spent.tokens) {
                    *sum = sum.saturating_add(one);
                }
            }
            Ok(sum)
        })
    }
}
