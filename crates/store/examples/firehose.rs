//! The densest writing there is, for tests of what lives beside it (`conformance/sharing.py`).
//!
//!     firehose FILE SESSION SECONDS
//!
//! Appends to one session as fast as the store takes it, many at a time: twenty parts of one message, again and again. Prints
//! the number and the id of each event when it is acknowledged. Ends with 1 at the first event that is refused.
use annalist_schema::message::UserMessage;
use annalist_schema::model::ModelRef;
use annalist_schema::part::TextPart;
use annalist_schema::{Part, event, id};
use annalist_store::{Create, Durability, Expect, NewEvent, Pending, Recorded, Store};
use std::collections::VecDeque;
use std::error::Error;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

/// Appends under way: more than the writer takes into one transaction.
const AT_ONCE: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, session, seconds] = &arguments[..] else { return Err("usage: firehose FILE SESSION SECONDS".into()) };
    let store = Store::open(file.as_ref(), Create::Never)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut told = |pending: Pending<Vec<Recorded>>| -> Result<(), Box<dyn Error>> {
        for event in pending.wait()? {
            writeln!(out, "{} {}", event.seq, event.id)?;
        }
        Ok(out.flush()?)
    };

    let now = id::now_ms();
    let message = id::new(id::Kind::Message);
    let user = UserMessage::new(&message, session, now, "build", ModelRef::new("chat", "m1"));
    let data = event::MessageUpdated::new(&user.into())?.object().to_text();
    told(store.append(session, Expect::Any, vec![NewEvent::new("message.updated.1", data)], Durability::Power))?;
    let parts: Vec<String> = (0..20).map(|_| id::new(id::Kind::Part)).collect();
    let end = Instant::now() + Duration::from_secs(seconds.parse()?);
    let mut under_way = VecDeque::new();
    for at in 0.. {
        if Instant::now() >= end {
            break;
        }
        let mut part = Part::from(TextPart::new(&format!("{at} ").repeat(200)));
        part.set_identity(&parts[at % parts.len()], session, &message);
        let data = event::MessagePartUpdated::new(&part, now)?.object().to_text();
        under_way.push_back(store.append(
            session,
            Expect::Any,
            vec![NewEvent::new("message.part.updated.1", data)],
            Durability::Process,
        ));
        if under_way.len() >= AT_ONCE {
            under_way.pop_front().map_or(Ok(()), &mut told)?;
        }
    }
    under_way.into_iter().try_for_each(told)
}
