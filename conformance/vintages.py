#!/usr/bin/env python3
"""Older files that Annalist brought up, beside the same files brought up by the reference.

    vintages.py [--binary target/release/annalist]

For each file of fixtures/vintages: the reference opens one copy, Annalist another (by importing a document into it). Then
the tables, the rows and what the reference serves from both must be the same, but for the logs, which Annalist keeps where
they replay; kept ones are replayed by an empty reference, which must come to the same rows.
"""
import argparse, glob, json, os, shutil, sqlite3, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "oracle"))
import oracle

DOCUMENT = {"info": {"id": "ses_trigger", "slug": "trigger", "projectID": "", "directory": "", "title": "the writing command",
                     "version": "1.18.33", "time": {"created": 1790000000000, "updated": 1790000000000}}, "messages": []}
# Tables of a reference that ran: it knows the folder it was started in, and that is none of the file's.
OWN = {"event", "event_sequence", "migration", "__drizzle_migrations", "project", "project_directory"}


def shape(db):
    """Columns, keys and indexes by name, without the order that columns were added in."""
    out = {}
    for table, in db.execute("select name from sqlite_master where type='table' and name not like 'sqlite_%'").fetchall():
        out[table] = {
            # The reference's own migrated files have a default there, its new ones none; the table is emptied anyway.
            "columns": sorted((c[1], c[2].lower(), c[5] > 0 or c[3], c[4] is not None or c[1] == "time_used", c[5])
                              for c in db.execute(f"pragma table_info({table})")),
            "references": sorted(f[2:7] for f in db.execute(f"pragma foreign_key_list({table})")),
            "indexes": sorted((i[1], i[2], [c[2] for c in db.execute(f"pragma index_info({i[1]})")])
                              for i in db.execute(f"pragma index_list({table})") if not i[1].startswith("sqlite_autoindex")),
        }
    return out


def rows(db, table):
    columns = sorted(c[1] for c in db.execute(f"pragma table_info({table})"))
    return sorted(map(repr, db.execute(f"select {','.join(columns)} from {table}").fetchall()))


def served(ref, file, ids):
    """What the reference answers for the sessions of a file."""
    for end in ("", "-wal", "-shm"):
        if os.path.exists(ref.db + end):
            os.remove(ref.db + end)
    os.makedirs(os.path.dirname(ref.db), exist_ok=True)
    shutil.copy(file, ref.db)
    ref.start()
    out = {i: {"info": ref.call("GET", f"/session/{i}")[1], "messages": ref.call("GET", f"/session/{i}/message")[1],
               "todo": ref.call("GET", f"/session/{i}/todo")[1], "children": ref.call("GET", f"/session/{i}/children")[1]} for i in ids}
    listed = ref.call("GET", "/experimental/session?limit=1000&archived=true")[1]
    out["listed"] = sorted(s["id"] for s in listed if s["id"] in ids)
    history = ref.call("POST", "/sync/history", {})[1]
    ref.stop()
    db = sqlite3.connect(ref.db)
    db.execute("pragma wal_checkpoint(truncate)")
    db.close()
    return out, history


def replayed(ref, history):
    """The rows that an empty reference makes of a history."""
    for end in ("", "-wal", "-shm"):
        if os.path.exists(ref.db + end):
            os.remove(ref.db + end)
    ref.start()
    problems = []
    logs = {}
    for e in history:
        logs.setdefault(e["aggregate_id"], []).append(e)
    db = sqlite3.connect(ref.db, timeout=20)
    for project in {p for e in history for p in [json.loads(json.dumps(e["data"])).get("info", {}).get("projectID")] if p}:
        db.execute("insert or ignore into project(id, worktree, time_created, time_updated, sandboxes) values(?, '/home/dev/project', 1, 1, '[]')", (project,))
    db.commit()
    for session, events in logs.items():
        events.sort(key=lambda e: e["seq"])
        status, answer, _ = ref.call("POST", "/sync/replay", {"directory": ref.dir, "events": [
            {"id": e["id"], "aggregateID": session, "seq": e["seq"], "type": e["type"], "data": e["data"]} for e in events]})
        if status != 200:
            problems.append(f"{session}: {status} {str(answer)[:200]}")
    out = {session: {"info": ref.call("GET", f"/session/{session}")[1], "messages": ref.call("GET", f"/session/{session}/message")[1]}
           for session in logs}
    db.close()
    ref.stop()
    return out, problems


def compare(binary, fixture, check):
    name = os.path.basename(fixture)[:-3]
    source = sqlite3.connect(f"file:{fixture}?mode=ro&immutable=1", uri=True)
    ids = [r[0] for r in source.execute("select id from session order by id")]
    with oracle.Reference(start=False, root=tempfile.mkdtemp(prefix="vintages-")) as ref:
        document = os.path.join(ref.root, "document.json")
        with open(document, "w") as f:
            json.dump(DOCUMENT, f)
        mine = os.path.join(ref.root, "mine.db")
        shutil.copy(fixture, mine)
        done = subprocess.run([binary, "import", document, "--db", mine], capture_output=True, text=True, env=ref.env, cwd=ref.dir)
        copies = glob.glob(mine + ".backup-*")
        check(f"{name}: a writing command brings it up and names the copy", done.returncode == 0 and len(copies) == 1 and copies[0] in done.stderr,
              done.stderr[-400:])
        same_log = {i: 0 for i in ids}
        theirs = os.path.join(ref.root, "theirs.db")
        want, _ = served(ref, fixture, ids)
        shutil.copy(ref.db, theirs)
        got, history = served(ref, mine, ids)
        check(f"{name}: the reference serves the same {len(ids)} sessions from it as from the one it brought up itself",
              got == want and got["listed"] == sorted(ids) and all(got[i]["messages"] is not None for i in ids),
              next((f"{at}: {what}" for at, what in oracle.differences(want, got)), ""))
        a, b = sqlite3.connect(theirs), sqlite3.connect(mine)
        a_shape, b_shape = shape(a), shape(b)
        check(f"{name}: tables, columns, references and indexes are the reference's", a_shape == b_shape,
              str([(t, a_shape.get(t), b_shape.get(t)) for t in sorted({*a_shape, *b_shape}) if a_shape.get(t) != b_shape.get(t)])[:600])
        b.execute("delete from session where id = 'ses_trigger'")
        wrong = [t for t in a_shape if t not in OWN and rows(a, t) != rows(b, t)]
        check(f"{name}: the rows are the reference's", not wrong, str([(t, [r for r in rows(a, t) if r not in rows(b, t)][:1], [r for r in rows(b, t) if r not in rows(a, t)][:1]) for t in wrong])[:900])
        ledger = [sorted(r[0] for r in db.execute("select id from migration")) for db in (a, b)]
        check(f"{name}: the migrations recorded are the reference's", ledger[0] == ledger[1], str(ledger)[:300])
        kept = [e for e in history if e["aggregate_id"] != "ses_trigger"]
        out, problems = replayed(ref, kept)
        wrong = [f"{s}: {at}: {what}" for s in out for at, what in list(oracle.differences({k: got[s][k] for k in out[s]}, out[s]))[:1]]
        check(f"{name}: an empty reference replays the {len(out)} kept logs to the same rows", not problems and not wrong, "; ".join(problems + wrong)[:600])
    return name, len(out)


def all_of_them(binary, check):
    kept = dict(compare(binary, fixture, check) for fixture in sorted(glob.glob(os.path.join(HERE, "fixtures", "vintages", "*.db"))))
    check(f"older files: logs were kept ({kept})", kept.get("1.17.0") == 8 and kept.get("both-ledgers") == 1)


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "annalist"))
    binary = os.path.abspath(ap.parse_args().binary)
    oracle.install()
    failed = []

    def check(name, fine, detail=""):
        print(f"{'ok' if fine else 'FAILED'}  {name}" + (f"\n        {detail}" if detail and not fine else ""), flush=True)
        if not fine:
            failed.append(name)

    all_of_them(binary, check)
    sys.exit(1 if failed else 0)
