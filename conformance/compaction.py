#!/usr/bin/env python3
"""Does the reference still replay a log that Annalist has compacted, and to the same rows?

    compaction.py [--compact "COMMAND"]     COMMAND takes a database file as its last argument

The fixture is compacted; a reference serves it and hands out its log (POST /sync/history); a second reference, with nothing but
the projects, replays it (POST /sync/replay); session, message and part rows must be those of the fixture. Prints what it found and
exits 1 if they differ.
"""
import argparse, json, os, shlex, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "oracle"))
import oracle

FIXTURE = os.path.join(HERE, "fixtures", "opencode-small.db")
EMPTY = os.path.join(HERE, "fixtures", "opencode-empty.db")
COMPACT = "cargo run --quiet --release --locked -p annalist-store --example compact --"
# The reference looks at its clock when it writes a row; a session's own is its info's.
CLOCK = {("message", "time_updated"), ("part", "time_updated")}
JSON = {"data", "summary_diffs", "metadata", "revert", "permission", "model"}


def rows(database):
    """Rows by table and id, JSON by value."""
    db = oracle.sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    found = {}
    for table in ("session", "message", "part"):
        cursor = db.execute(f"select * from {table}")
        names = [c[0] for c in cursor.description]
        for row in cursor:
            row = dict(zip(names, row))
            for name, value in row.items():
                if (table, name) in CLOCK:
                    row[name] = None
                elif name == "cost" and value is not None:
                    row[name] = round(value, 9)
                elif name in JSON and value is not None:
                    row[name] = json.loads(value)
            found[table, row["id"]] = row
    db.close()
    return found


def copy(path, to):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy(path, to)
    return to


def log_of(database):
    with oracle.Reference(start=False, root=tempfile.mkdtemp(prefix="history-")) as ref:
        copy(database, ref.db)
        ref.start()
        status, events, _ = ref.call("POST", "/sync/history", {})
        if status != 200:
            raise RuntimeError(f"/sync/history answered {status}: {str(events)[:300]}")
        return events


def replayed(events, database):
    """The rows of a reference that had only the projects of `database` and was given the events."""
    with oracle.Reference(start=False, root=tempfile.mkdtemp(prefix="replay-")) as ref:
        db = oracle.sqlite3.connect(copy(EMPTY, ref.db))
        db.execute("attach ? as old", (database,))
        for table in ("part", "message", "session", "event", "event_sequence", "project"):
            db.execute(f"delete from main.{table}")
        db.execute("insert into main.project select * from old.project")
        db.commit()
        db.close()
        ref.start()
        logs = {}
        for event in events:
            logs.setdefault(event["aggregate_id"], []).append(
                {"id": event["id"], "aggregateID": event["aggregate_id"], "seq": event["seq"], "type": event["type"], "data": event["data"]})
        for aggregate, log in logs.items():
            status, answer, _ = ref.call("POST", "/sync/replay", {"directory": ref.dir, "events": log})
            if status != 200:
                raise RuntimeError(f"/sync/replay of {aggregate} answered {status}: {str(answer)[:300]}")
        ref.stop()
        return rows(ref.db)


def check(compact=COMPACT):
    """(fine, what was found)"""
    oracle.install()
    with tempfile.TemporaryDirectory(prefix="compaction-") as room:
        file = copy(FIXTURE, os.path.join(room, "opencode.db"))
        want = rows(file)
        said = subprocess.run([*shlex.split(compact), file], capture_output=True, text=True, cwd=os.path.join(HERE, ".."))
        if said.returncode:
            return False, said.stderr.strip()[-400:]
        try:
            events = log_of(file)
            got = replayed(events, file)
        except RuntimeError as refused:
            return False, str(refused)
        emptied = [e for e in events if e["data"].get("partID") == "prt_emptied"]
        different = sorted(key for key in want.keys() | got.keys() if want.get(key) != got.get(key))
        first = "" if not different else "; ".join(f"{at}: {what}" for at, what in list(oracle.differences(want.get(different[0]), got.get(different[0])))[:3])
        fine = bool(emptied) and not different
        return fine, f"{len(emptied)} of {len(events)} events emptied, {len(want)} rows, {len(different)} different {different[:2]} {first}"


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--compact", default=COMPACT)
    fine, found = check(ap.parse_args().compact)
    print(f"{'ok' if fine else 'FAILED'}  {found}")
    sys.exit(0 if fine else 1)
