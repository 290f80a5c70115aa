#!/usr/bin/env python3
"""Compare Annalist with the reference: everything that .ci/run wants to be true.

    check.py [--binary target/release/annalist] [--firehose target/release/examples/firehose]

Installs the pinned reference (npm) if it is not there yet. Prints a line a check and exits 1 if one fails.
"""
import argparse, json, os, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "oracle")]
import compaction, oracle, sharing, vintages

FIXTURE = os.path.join(HERE, "fixtures", "opencode-small.db")
FAILED = []


def check(name, fine, detail=""):
    print(f"{'ok' if fine else 'FAILED'}  {name}" + (f"\n        {detail}" if detail and not fine else ""), flush=True)
    if not fine:
        FAILED.append(name)


def run(binary, *args, env=None, cwd=None):
    done = subprocess.run([binary, *args], capture_output=True, env=env, cwd=cwd)
    if done.returncode:
        raise RuntimeError(f"{binary} {' '.join(args)}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout


def sessions(database):
    db = oracle.sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = db.execute("select id from session order by time_created, id").fetchall()
    db.close()
    return [row[0] for row in rows]


def moved(document):
    """A document without what an import takes from the folder it happens in."""
    document = json.loads(document)
    for key in ("projectID", "directory", "path"):
        document["info"].pop(key, None)
    return document


def first(want, got):
    return next((f"{at}: {what}" for at, what in oracle.differences(want, got)), "the values are equal, the bytes are not")


def recordings(binary):
    """(a) The recorded documents through import and export."""
    accepted = os.path.join(HERE, "accepted.txt")
    done = subprocess.run([sys.executable, os.path.join(HERE, "oracle", "oracle.py"), "compare", os.path.join(HERE, "golden"),
                           "convert/*", "--cli", "--binary", binary, "--accept", accepted], capture_output=True, text=True)
    print("        " + done.stdout.strip().replace("\n", "\n        "))
    check("(a) the recorded documents through import and export", done.returncode == 0, done.stderr.strip()[-400:])


def served(binary):
    """(e) The recorded HTTP calls and event streams, played against our server."""
    lists = [x for name in ("accepted.txt", "accepted-until-loop.txt") for x in ("--accept", os.path.join(HERE, name))]
    done = subprocess.run([sys.executable, os.path.join(HERE, "oracle", "oracle.py"), "compare", os.path.join(HERE, "golden"),
                           "api/*", "--binary", binary, *lists], capture_output=True, text=True)
    print("        " + done.stdout.strip().replace("\n", "\n        "))
    check("(e) the recorded HTTP calls and event streams", done.returncode == 0, done.stderr.strip()[-400:])


def sdk(binary):
    """(f) The official SDK, unchanged, against our server."""
    folder = os.path.join(HERE, "sdk")
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, check=True, stdout=sys.stderr)
    done = subprocess.run(["npm", "test"], cwd=folder, capture_output=True, text=True, env={**os.environ, "ANNALIST_BINARY": binary})
    check("(f) the official SDK against our server", done.returncode == 0, done.stdout.strip()[-1500:])


def exports(binary, ref):
    """(b) Every session of a real database, exported by both."""
    os.makedirs(os.path.dirname(ref.db), exist_ok=True)
    shutil.copy(FIXTURE, ref.db)
    ours = os.path.join(ref.root, "fixture.db")
    shutil.copy(FIXTURE, ours)
    documents, wrong = {}, []
    for session in sessions(ours):
        want = run(oracle.REFERENCE, "export", session, env=ref.env, cwd=ref.dir)
        got = run(binary, "export", session, "--db", ours, env=ref.env)
        if want != got:
            wrong.append(f"{session}: {first(json.loads(want), json.loads(got))}")
        documents[session] = got
    check(f"(b) {len(documents)} sessions of a real database: the exports are the reference's, byte for byte", not wrong and documents,
          "; ".join(wrong))
    for suffix in ("", "-wal", "-shm"):  # a log left beside another file would be taken for that file's
        if os.path.exists(ref.db + suffix):
            os.remove(ref.db + suffix)
    return documents


def again(binary, ref, documents):
    """(c) Imported into an empty file and exported again."""
    file, wrong = os.path.join(ref.root, "again.db"), []
    for session, document in documents.items():
        path = os.path.join(ref.root, "document.json")
        with open(path, "wb") as f:
            f.write(document)
        run(binary, "import", path, "--db", file, env=ref.env, cwd=ref.dir)
        got = run(binary, "export", session, "--db", file, env=ref.env)
        if moved(got) != moved(document) or list(json.loads(got)["info"]) != list(json.loads(document)["info"]):
            wrong.append(f"{session}: {first(moved(document), moved(got))}")
    check(f"(c) {len(documents)} documents imported into an empty file and exported again are the same", not wrong and documents,
          "; ".join(wrong))
    return file


def opened(binary, ref, file):
    """(d) A file that Annalist wrote, served by the reference, written by it and read by Annalist."""
    shutil.copy(file, ref.db)
    ids, wrong = sessions(file), []
    ref.start()
    status, listed, _ = ref.call("GET", "/session?limit=1000&scope=project")
    check(f"(d) the reference opens a file of ours and lists its {len(ids)} sessions",
          status == 200 and sorted(s["id"] for s in listed) == sorted(ids), f"{status}: {str(listed)[:300]}")
    for session in ids:
        want = json.loads(run(binary, "export", session, "--db", file, env=ref.env))
        got = {"info": ref.call("GET", f"/session/{session}")[1], "messages": ref.call("GET", f"/session/{session}/message")[1]}
        if want != got:
            wrong.append(f"{session}: {first(want, got)}")
    check(f"(d) its answers for {len(ids)} sessions are what Annalist exports", not wrong and ids, "; ".join(wrong))
    status, answer, _ = ref.call("POST", f"/session/{ids[0]}/message", {"noReply": True, "parts": [{"type": "text", "text": "and on"}]})
    ref.stop()
    document = json.loads(run(binary, "export", ids[0], "--db", ref.db, env=ref.env))
    check("(d) it goes on writing in that file, and Annalist reads what it wrote",
          status == 200 and document["messages"][-1] == answer, f"{status}: {str(answer)[:300]}")
    listing = json.loads(run(binary, "list", "--archived", "--json", "--db", ref.db, env=ref.env, cwd=ref.dir))
    check("(d) both put a folder's sessions into the same project", sorted(s["id"] for s in listing) == sorted(ids),
          f"{len(listing)} of {len(ids)}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "annalist"))
    ap.add_argument("--firehose", default=os.path.join(HERE, "..", "target", "release", "examples", "firehose"))
    a = ap.parse_args()
    binary = os.path.abspath(a.binary)
    oracle.install()
    recordings(binary)
    served(binary)
    sdk(binary)
    with oracle.Reference(start=False, root=tempfile.mkdtemp(prefix="check-")) as ref:
        documents = exports(binary, ref)
        opened(binary, ref, again(binary, ref, documents))
    vintages.all_of_them(binary, check)
    # Both write one file at the same time.
    sharing.sharing(check, os.path.abspath(a.firehose))
    fine, found = compaction.check()
    check("a compacted log, replayed by the reference, gives the same rows", fine, found)
    print(f"{len(FAILED)} checks failed" if FAILED else "all checks passed")
    sys.exit(1 if FAILED else 0)
