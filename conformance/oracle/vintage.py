#!/usr/bin/env python3
"""Make conformance/fixtures/vintages: databases as earlier versions of OpenCode left them.

    vintage.py make OUT.db            sessions of the version that ORACLE_VERSION and ORACLE_CACHE name, in /home/dev (which
                                      must not exist); checkpointed and vacuumed, no -wal left
    vintage.py go-on FROM.db OUT.db   the version opens FROM.db, migrates it its own way, and goes on in it
"""
import json, os, shutil, sqlite3, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

ROOT = "/home/dev"
BASH = lambda command, **k: {"tool": "bash", "args": {"command": command, "description": "run it"}, **k}


class Talk:
    """A server of that version, and the few things that are said to it."""

    def __init__(self, ref):
        self.ref, self.llm = ref, ref.script

    def answers(self, *responses):
        self.llm.responses, self.llm.next = list(responses), 0

    def create(self, title, **k):
        return self.ref.call("POST", "/session", {"title": title, **k})[1]["id"]

    def say(self, session, text, *answers, provider="chat", **body):
        self.answers(*(answers or [{"text": "ok"}]))
        status, got, _ = self.ref.call("POST", f"/session/{session}/message", {
            "model": {"providerID": provider, "modelID": "m1"}, "parts": [{"type": "text", "text": text}], **body})
        if status != 200:
            print("unexpected", status, got, file=sys.stderr)

    def messages(self, session):
        return [m["info"]["id"] for m in self.ref.call("GET", f"/session/{session}/message")[1]]


def keep(ref, out):
    ref.stop()
    for end in ("", "-wal", "-shm"):
        if os.path.exists(out + end):
            os.remove(out + end)
        if os.path.exists(ref.db + end):
            shutil.copy(ref.db + end, out + end)
    db = sqlite3.connect(out)
    db.execute("pragma wal_checkpoint(truncate)")
    db.execute("vacuum")
    db.execute("pragma wal_checkpoint(truncate)")
    db.close()
    for end in ("-wal", "-shm"):
        if os.path.exists(out + end):
            os.remove(out + end)
    db = sqlite3.connect(f"file:{out}?mode=ro&immutable=1", uri=True)
    tables = [r[0] for r in db.execute("select name from sqlite_master where type='table' order by 1")]
    print(os.path.getsize(out), {t: db.execute(f'select count(*) from "{t}"').fetchone()[0] for t in tables})


def fresh():
    if os.path.exists(ROOT):
        raise SystemExit(f"{ROOT} exists; the fixture wants its paths there")


def make(out):
    fresh()
    with oracle.Reference([{"text": "ok"}], "chat", root=ROOT, config={"permission": {"*": "allow"}}) as ref:
        t = Talk(ref)
        s = t.create("plain talk")
        t.say(s, "hello", {"text": "hello, what shall we do?"})
        s = t.create("tools and todos")
        t.say(s, "look at hello.txt", {"reasoning": "I should read it", "tool": "read", "args": {"filePath": ref.dir + "/hello.txt"}},
              BASH("cat hello.txt | wc -l", text="counting"), {"text": "It has two lines."}, provider="anthropic")
        t.say(s, "plan", {"tool": "todowrite", "args": {"todos": [
            {"id": "1", "content": "first thing", "status": "completed", "priority": "high"},
            {"id": "2", "content": "second thing", "status": "pending", "priority": "low"}]}}, {"text": "planned"})
        s = t.create("parent of a subagent")
        t.say(s, "delegate", {"tool": "task", "args": {"description": "look around", "prompt": "find it", "subagent_type": "general"}},
              {"text": "found by the child"}, {"text": "the child found it"})
        ref.call("POST", f"/session/{s}/fork", {"messageID": t.messages(s)[1]})
        s = t.create("revert in place")
        for i in (1, 2):
            t.say(s, f"question {i}", {"text": f"answer {i}"})
        ref.call("POST", f"/session/{s}/revert", {"messageID": t.messages(s)[2]})
        s = t.create("put away")
        t.say(s, "hi", {"text": "hi"})
        ref.call("PATCH", f"/session/{s}", {"time": {"archived": 1790000000000}})
        s = t.create("refused by the model")
        t.say(s, "try", {"status": 400, "body": {"error": {"message": "bad field", "type": "invalid_request_error"}}})
        keep(ref, out)


def go_on(source, out):
    fresh()
    with oracle.Reference([{"text": "ok"}], "chat", root=ROOT, config={"permission": {"*": "allow"}}, start=False) as ref:
        os.makedirs(os.path.dirname(ref.db), exist_ok=True)
        shutil.copy(source, ref.db)
        ref.start()
        t = Talk(ref)
        listed = ref.call("GET", "/session?limit=1000")[1]
        old = next(s["id"] for s in listed if s["title"] == "plain talk")
        t.say(old, "and after the update?", {"text": "still here"})
        s = t.create("begun after the update")
        t.say(s, "hello", BASH("echo new"), {"text": "hello again"})
        keep(ref, out)


if __name__ == "__main__":
    {"make": make, "go-on": go_on}[sys.argv[1]](*sys.argv[2:])
