//! Sums over the steps of a session.

use super::project::Usage;
use crate::session::Spent;
use rusqlite::Connection;

pub(super) fn spent(db: &Connection, session: &str) -> rusqlite::Result<Spent> {
    let mut statement = db.prepare_cached(
        "SELECT p.data, m.time_created < s.time_created FROM session s JOIN message m ON m.session_id = s.id
         JOIN part p ON p.message_id = m.id WHERE s.id = ?1",
    )?;
    let mut rows = statement.query([session])?;
    let mut spent = Spent::default();
    while let Some(row) = rows.next()? {
        let usage = Usage::of_row(row.get_ref(0)?);
        if row.get(1)? {
            spent.inherited += usage.cost;
        } else {
            spent.own += usage.cost;
            for (sum, tokens) in spent.tokens.iter_mut().zip(usage.tokens) {
                *sum = sum.saturating_add(tokens);
            }
        }
    }
    Ok(spent)
}
