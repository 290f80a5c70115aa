#!/usr/bin/env python3
"""Writes streams.json: what the scripted model sent in each recording of conformance/golden/run, byte for byte.

    {CASE.PROVIDER: [ANSWER, ...]}    the answers to the recorded requests, in order
    ANSWER  {"status": 429, "reason": "Too Many Requests", "headers": {...}, "body": "..."}
            {"stream": "data: ...\n\n..."}     a whole body
            {"stream": ..., "cut": true}       the connection was dropped behind it, or the request aborted

Run it again when a recording is added: crates/model/tests/data/streams.py
"""
import http, json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../../../..")
sys.path.insert(0, os.path.join(ROOT, "conformance/oracle"))
import fake_llm

PATHS = {"chat": "/v1/chat/completions", "anthropic": "/v1/messages", "openai": "/v1/responses",
         "google": "/v1/models/m1:streamGenerateContent?alt=sse"}


def answer(response, n, provider):
    if "status" in response:
        body = response.get("body", "")
        try:
            reason = http.HTTPStatus(response["status"]).phrase
        except ValueError:
            reason = ""
        return {"status": response["status"], "reason": reason,
                "headers": {"content-type": "application/json", **response.get("headers", {})},
                "body": body if isinstance(body, str) else json.dumps(body)}
    events = response.get("sse")
    if events is None:
        path = PATHS[provider]
        events = list(fake_llm.protocol(path)(response, n, path if provider == "google" else "m1"))
        if "cut" in response:
            events = events[:response["cut"]] + response.get("after", [{"close": True}])
    text = ""
    for e in events:
        if e.get("close"):
            return {"stream": text, "cut": True}
        if "delay_ms" in e:
            continue
        data = e["data"] if isinstance(e["data"], str) else json.dumps(e["data"])
        text += (f"event: {e['event']}\n" if "event" in e else "") + f"data: {data}\n\n"
    return {"stream": text}


found = {}
golden = os.path.join(ROOT, "conformance/golden/run")
for name in sorted(os.listdir(golden)):
    if not name.endswith(".golden.json"):
        continue
    case, provider = name.split(".")[:2]
    script = json.load(open(f"{golden}/{case}.json"))["script"]
    if isinstance(script, dict):
        script = script[provider]
    asked = len(json.load(open(f"{golden}/{name}"))["requests"])
    found[f"{case}.{provider}"] = [answer(script[min(n, len(script)) - 1], n, provider) for n in range(1, asked + 1)]
with open(f"{HERE}/streams.json", "w") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
