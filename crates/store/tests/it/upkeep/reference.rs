//! The reference's projector as reference-storage 1.2, 1.9, 3.2 and 4.4 tell of it, in its own SQL and knowing nothing of ours:
//! a foreign process that appends to the same file.

use annalist_schema::id;
use annalist_store::NewEvent;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use serde_json::Value;

/// One publish of the reference; false if its projector fails, which leaves no trace.
pub fn publish(db: &mut Connection, session: &str, event: &NewEvent) -> bool {
    db.execute_batch("PRAGMA foreign_keys = ON").unwrap();
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    // Where we clear (sharing the file, "Clears"), an empty value is spelled in a way of its own.
    let data: Value = serde_json::from_str(&event.data.replace("{  }", "null").replace("[  ]", "null")).unwrap();
    let latest: Option<i64> =
        tx.query_row("SELECT seq FROM event_sequence WHERE aggregate_id = ?1", [session], |row| row.get(0)).optional().unwrap();
    let seq = latest.unwrap_or(-1) + 1;
    let at = id::time_near(&event.id, id::now_ms()).unwrap();
    if project(&tx, session, &event.kind, &data, at).is_err() {
        return false;
    }
    tx.execute(
        "INSERT INTO event_sequence (aggregate_id, seq) VALUES (?1, ?2) ON CONFLICT (aggregate_id) DO UPDATE SET seq = ?2",
        params![session, seq],
    )
    .unwrap();
    tx.execute("INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5)", params![event.id, session, seq, event.kind, event.data]).unwrap();
    tx.commit().unwrap();
    true
}

fn project(tx: &Transaction<'_>, session: &str, kind: &str, data: &Value, at: i64) -> rusqlite::Result<()> {
    match kind {
        "session.created.1" => {
            tx.execute(
                "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES (?1, ?2, '', '', '', '', 0, 0)",
                params![session, data["info"]["projectID"].as_str()],
            )?;
            patch(tx, session, &data["info"])?;
        }
        "session.updated.1" => patch(tx, session, &data["info"])?,
        "message.updated.1" => {
            let info = &data["info"];
            tx.execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
                params![info["id"].as_str(), session, info["time"]["created"].as_i64(), at, without(info, &["id", "sessionID"])],
            )?;
        }
        "message.part.updated.1" => {
            let part = &data["part"];
            let id = part["id"].as_str();
            let before: Option<String> = tx.query_row("SELECT data FROM part WHERE id = ?1", [id], |row| row.get(0)).optional()?;
            tx.execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
                params![id, part["messageID"].as_str(), session, data["time"].as_i64(), at, without(part, &["id", "sessionID", "messageID"])],
            )?;
            if let Some(before) = before {
                usage(tx, session, &serde_json::from_str(&before).unwrap(), -1)?;
            }
            usage(tx, session, part, 1)?;
        }
        "message.part.removed.1" => {
            let id = data["partID"].as_str();
            let before: Option<String> = tx
                .query_row("SELECT data FROM part WHERE id = ?1 AND session_id = ?2", params![id, session], |row| row.get(0))
                .optional()?;
            if let Some(before) = before {
                usage(tx, session, &serde_json::from_str(&before).unwrap(), -1)?;
            }
            tx.execute("DELETE FROM part WHERE id = ?1 AND session_id = ?2", params![id, session])?;
        }
        "message.removed.1" => {
            let id = data["messageID"].as_str();
            let mut parts = tx.prepare("SELECT data FROM part WHERE message_id = ?1 AND session_id = ?2")?;
            let parts: Vec<String> = parts.query_map(params![id, session], |row| row.get(0))?.collect::<Result<_, _>>()?;
            for part in parts {
                usage(tx, session, &serde_json::from_str(&part).unwrap(), -1)?;
            }
            tx.execute("DELETE FROM message WHERE id = ?1 AND session_id = ?2", params![id, session])?;
        }
        _ => {}
    }
    Ok(())
}

fn usage(tx: &Transaction<'_>, session: &str, part: &Value, sign: i64) -> rusqlite::Result<()> {
    if part["type"] != "step-finish" || part["cost"].is_null() || part["tokens"].is_null() {
        return Ok(());
    }
    let t = &part["tokens"];
    let of = |value: &Value| value.as_i64().unwrap() * sign;
    tx.execute(
        "UPDATE session SET cost = cost + ?2, tokens_input = tokens_input + ?3, tokens_output = tokens_output + ?4,
         tokens_reasoning = tokens_reasoning + ?5, tokens_cache_read = tokens_cache_read + ?6, tokens_cache_write = tokens_cache_write + ?7
         WHERE id = ?1",
        params![
            session,
            part["cost"].as_f64().unwrap() * sign as f64,
            of(&t["input"]),
            of(&t["output"]),
            of(&t["reasoning"]),
            of(&t["cache"]["read"]),
            of(&t["cache"]["write"])
        ],
    )?;
    Ok(())
}

/// 1.2: what is absent stays, but `revert` and `workspaceID` are cleared and usage becomes 0.
fn patch(tx: &Transaction<'_>, session: &str, info: &Value) -> rusqlite::Result<()> {
    let set = |column: &str, value: &dyn rusqlite::ToSql| {
        tx.execute(&format!("UPDATE session SET {column} = ?2 WHERE id = ?1"), params![session, value])
    };
    for (column, path, text, cleared) in [
        ("project_id", "/projectID", true, false),
        ("workspace_id", "/workspaceID", true, true),
        ("parent_id", "/parentID", true, false),
        ("slug", "/slug", true, false),
        ("directory", "/directory", true, false),
        ("path", "/path", true, false),
        ("title", "/title", true, false),
        ("version", "/version", true, false),
        ("agent", "/agent", true, false),
        ("summary_diffs", "/summary/diffs", false, false),
        ("metadata", "/metadata", false, false),
        ("revert", "/revert", false, true),
        ("permission", "/permission", false, false),
        ("model", "/model", false, false),
    ] {
        match info.pointer(path) {
            Some(Value::Null) => set(column, &Option::<i64>::None)?,
            Some(value) if text => set(column, &value.as_str())?,
            Some(value) => set(column, &value.to_string())?,
            None if cleared => set(column, &Option::<i64>::None)?,
            None => 0,
        };
    }
    for (column, path, zero) in [
        ("summary_additions", "/summary/additions", false),
        ("summary_deletions", "/summary/deletions", false),
        ("summary_files", "/summary/files", false),
        ("tokens_input", "/tokens/input", true),
        ("tokens_output", "/tokens/output", true),
        ("tokens_reasoning", "/tokens/reasoning", true),
        ("tokens_cache_read", "/tokens/cache/read", true),
        ("tokens_cache_write", "/tokens/cache/write", true),
        ("time_created", "/time/created", false),
        ("time_updated", "/time/updated", false),
        ("time_compacting", "/time/compacting", false),
    ] {
        let cleared = column.starts_with("summary_") && info.pointer("/summary/diffs") == Some(&Value::Null);
        match info.pointer(path) {
            Some(_) if cleared => set(column, &Option::<i64>::None)?,
            Some(value) => set(column, &value.as_i64())?,
            None if zero => set(column, &0)?,
            None => 0,
        };
    }
    set("cost", &info["cost"].as_f64().unwrap_or(0.0))?;
    // Where we clear and the reference keeps an empty value that it shows as absent (sharing the file, "Clears").
    if let Some(url) = info.pointer("/share/url") {
        set("share_url", &url.as_str().filter(|url| !url.is_empty()))?;
    }
    if let Some(archived) = info.pointer("/time/archived") {
        set("time_archived", &archived.as_i64().filter(|at| *at != 0))?;
    }
    Ok(())
}

fn without(value: &Value, keys: &[&str]) -> String {
    let mut value = value.clone();
    let object = value.as_object_mut().unwrap();
    for key in keys {
        object.shift_remove(*key);
    }
    value.to_string()
}
