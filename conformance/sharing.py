#!/usr/bin/env python3
"""Annalist and the running reference write one file at the same time, as densely as Annalist can.

    sharing.py [--firehose target/release/examples/firehose] [--seconds 10]

The firehose is crates/store/examples/firehose.rs. Part of check.py; prints a line a check and exits 1 if one fails.
"""
import argparse, os, sqlite3, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "oracle"))
import oracle

# A prompt of the reference must be answered within so many seconds, however densely Annalist writes.
ANSWERED = 2.0


class Firehose:
    """The densest writing; what it acknowledged is in .events once it has ended."""

    def __init__(self, program, ref, session, seconds):
        self.events, self.begun = [], threading.Event()
        self.process = subprocess.Popen([program, ref.db, session, str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.begun.wait(30)

    def read(self):
        for line in self.process.stdout:
            seq, event = line.split()
            self.events.append((int(seq), event))
            self.begun.set()
        self.begun.set()

    def end(self):
        """Its own words if it failed."""
        self.reader.join()
        error = self.process.stderr.read().strip()
        return error or "it failed" if self.process.wait() else None


def prompt(ref, session):
    return ref.call("POST", f"/session/{session}/message", {"noReply": True, "parts": [{"type": "text", "text": "and on"}]})


def prompts(ref, session, until):
    """Prompts, one after the other, while the firehose runs: (status, seconds, the message's id)."""
    answers = []
    while until():
        begun = time.monotonic()
        status, answer, _ = prompt(ref, session)
        answers.append((status, time.monotonic() - begun, answer["info"]["id"] if status == 200 else answer))
    return answers


def run(check, ref, program, where, ours, theirs, seconds):
    """Annalist processes that append to the sessions `ours`, and the reference to `theirs`."""
    firehoses = [Firehose(program, ref, session, seconds) for session in ours]
    answers = prompts(ref, theirs, lambda: any(firehose.process.poll() is None for firehose in firehoses))
    failed = "; ".join(filter(None, [firehose.end() for firehose in firehoses]))
    events = {event: seq for firehose in firehoses for seq, event in firehose.events}
    times = sorted(took for _, took, _ in answers)
    refused = [answer for answer in answers if answer[0] != 200]
    print(f"        {where}: {len(answers)} prompts, median {times[len(times) // 2] * 1000:.0f} ms, longest {times[-1] * 1000:.0f} ms, "
          f"beside {len(events)} appends in {seconds} s")
    check(f"(e) the densest writing {where}: Annalist is refused nothing", not failed and len(events) > 100 * seconds,
          failed or f"only {len(events)} appends")
    check(f"(e) the densest writing {where}: the reference answers each prompt 200 within {ANSWERED} s",
          not refused and times[-1] < ANSWERED and len(answers) > seconds, f"{len(answers)} prompts, longest {times[-1]:.2f} s, {refused[:2]}")

    db = sqlite3.connect(f"file:{ref.db}?mode=ro", uri=True)
    stored = dict(db.execute("select id, seq from event"))
    lost = [event for event, seq in events.items() if stored.get(event) != seq]
    written = {row[0] for row in db.execute("select json_extract(data, '$.info.id') from event where aggregate_id = ? and type = 'message.updated.1'", (theirs,))}
    messages = {row[0] for row in db.execute("select id from message where session_id = ?", (theirs,))}
    lost += [answer[2] for answer in answers if answer[0] == 200 and answer[2] not in written & messages]
    check(f"(e) the densest writing {where}: everything acknowledged is there, of both", not lost, f"{len(lost)} lost: {lost[:3]}")
    gaps = []
    for session in {*ours, theirs}:
        numbers = [row[0] for row in db.execute("select seq from event where aggregate_id = ? order by seq", (session,))]
        last = db.execute("select seq from event_sequence where aggregate_id = ?", (session,)).fetchone()[0]
        if numbers != list(range(last + 1)):
            gaps.append(session)
    db.close()
    check(f"(e) the densest writing {where}: numbers have neither gap nor repeat", not gaps, f"{gaps}")


def sharing(check, program, seconds=10):
    with oracle.Reference(root=tempfile.mkdtemp(prefix="sharing-")) as ref:
        first, second = (ref.call("POST", "/session", {})[1]["id"] for _ in range(2))
        # A fresh server sets itself up at its first prompt: seconds, and a dozen transactions.
        prompt(ref, first)
        run(check, ref, program, "in two sessions", [first], second, seconds)
        run(check, ref, program, "in one session", [second], second, seconds)
        # All of ours leave the lock free at the same moment, or there would be no moment.
        run(check, ref, program, "of two processes", [first, second], second, seconds)
        db = sqlite3.connect(f"file:{ref.db}?mode=ro", uri=True)
        sound = db.execute("pragma integrity_check").fetchone()[0]
        db.close()
        check("(e) the file is sound", sound == "ok", sound)


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--firehose", default=os.path.join(HERE, "..", "target", "release", "examples", "firehose"))
    ap.add_argument("--seconds", type=int, default=10)
    a = ap.parse_args()
    failed = []

    def check(name, fine, detail=""):
        print(f"{'ok' if fine else 'FAILED'}  {name}" + (f"\n        {detail}" if detail and not fine else ""), flush=True)
        if not fine:
            failed.append(name)

    oracle.install()
    sharing(check, os.path.abspath(a.firehose), a.seconds)
    sys.exit(1 if failed else 0)
