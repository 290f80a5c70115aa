#!/usr/bin/env python3
"""The server beside the reference, on one file, in one run.

    conformance/bench/make_db.py FILE --from conformance/fixtures/opencode-empty.db --sessions 1000 --turns 10 --bloat 4 --one-long 2500
    conformance/bench/serve.py FILE --binary target/release/annalist

The reference (conformance/oracle/oracle.py install) serves a copy of FILE first; Annalist then serves a copy of the same. Each is asked
over one connection, one request at a time. Prints a table: p50 and p99 in ms, memory of the process in MB.
"""
import argparse, http.client, json, os, re, shutil, signal, sqlite3, subprocess, sys, tempfile, time
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))
ORACLE = os.path.join(HERE, "..", "oracle", "oracle.py")


def memory(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def processes(top):
    """The process of this id and those below it."""
    below = subprocess.run(["pgrep", "-P", str(top)], capture_output=True, text=True).stdout.split()
    return [top] + [pid for child in below for pid in processes(int(child))]


def answers(port):
    """Waits for the first answer."""
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            connection.request("GET", "/global/health")
            connection.getresponse().read()
            return connection
        except OSError:
            pass


def measure(connection, pid, long, folder):
    def ask(method, path, body=None):
        begun = time.perf_counter()
        text = None if body is None else json.dumps(body)
        connection.request(method, path, body=text, headers={"content-type": "application/json"})
        answer = connection.getresponse()
        read = answer.read()
        took = (time.perf_counter() - begun) * 1000
        if answer.status != 200:
            sys.exit(f"{method} {path}: {answer.status} {read[:300]}")
        return took, read

    rows = []

    def many(name, count, method, path, body=None):
        took = sorted(ask(method, path, body)[0] for _ in range(count))
        rows.append((name, f"{took[count // 2]:.1f} / {took[min(count - 1, int(count * 0.99))]:.1f}"))

    where = "?directory=" + quote(folder)
    rows.append(("memory at rest", f"{memory(pid):.0f} MB"))
    many("list", 100, "GET", "/session" + where)
    many("newest 100 messages", 100, "GET", f"/session/{long}/message{where}&limit=100")
    many("all 5,000 messages", 5, "GET", f"/session/{long}/message{where}")
    rows.append(("memory after that", f"{memory(pid):.0f} MB"))
    many("create", 100, "POST", "/session" + where, {})
    session = json.loads(ask("POST", "/session" + where, {})[1])["id"]
    prompt = {"noReply": True, "model": {"providerID": "p", "modelID": "m"}, "parts": [{"type": "text", "text": "hello"}]}
    many("noReply prompt", 100, "POST", f"/session/{session}/message{where}", prompt)
    return rows


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("file")
    ask.add_argument("--binary", required=True)
    args = ask.parse_args()
    with tempfile.TemporaryDirectory() as room:
        mine = os.path.join(room, "opencode.db")
        reference = subprocess.Popen([sys.executable, ORACLE, "serve", "--port", "4196", "--db", args.file], stdout=subprocess.PIPE, text=True)
        try:
            found = re.match(r"(\S+)  project (\S+)  database (\S+)", reference.stdout.readline())
            folder, theirs = found.group(2), found.group(3)
            # Whose sessions now belong to the folder that both are asked about.
            shutil.copy(theirs, mine)
            with sqlite3.connect(f"file:{mine}?mode=ro", uri=True) as db:
                long = db.execute("SELECT session_id FROM message GROUP BY 1 ORDER BY count(*) DESC LIMIT 1").fetchone()[0]
            server = max(processes(reference.pid), key=memory)
            want = measure(answers(4196), server, long, folder)
            begun = time.perf_counter()
            annalist = subprocess.Popen([os.path.abspath(args.binary), "serve", "--port", "4197", "--db", mine],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
            connection = answers(4197)
            start = (time.perf_counter() - begun) * 1000
            try:
                got = measure(connection, annalist.pid, long, folder)
            finally:
                annalist.terminate()
                annalist.wait()
        finally:
            reference.send_signal(signal.SIGINT)
            reference.wait()
    print("| p50 / p99 in ms | the reference | Annalist |\n|---|---|---|")
    print(f"| start to first answer | | {start:.0f} |")
    for (name, theirs), (_, ours) in zip(want, got):
        print(f"| {name} | {theirs} | {ours} |")


main()
