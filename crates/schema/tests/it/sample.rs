//! A sound value of every shape, with all of its fields. Some numbers are not spelled as a program would print them.

pub const PARTS: &[&str] = &[
    r#"{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"a","synthetic":true,"ignored":false,"time":{"start":1,"end":2},"metadata":{"openai":{"itemId":"i"}}}"#,
    r#"{"type":"reasoning","text":"a","metadata":{"anthropic":{"signature":"s"}},"time":{"start":1,"end":2}}"#,
    r#"{"type":"file","mime":"image/png","filename":"a.png","url":"data:image/png;base64,AA==","source":{"text":{"value":"@a","start":0,"end":2},"type":"file","path":"a.png"}}"#,
    r#"{"type":"file","mime":"text/plain","url":"file:///a","source":{"text":{"value":"@a","start":0,"end":2.5},"type":"symbol","path":"a","range":{"start":{"line":0,"character":1},"end":{"line":2,"character":3}},"name":"f","kind":12}}"#,
    r#"{"type":"file","mime":"text/plain","url":"file:///a","source":{"text":{"value":"@a","start":0,"end":2},"type":"resource","clientName":"c","uri":"u://x"}}"#,
    r#"{"type":"tool","callID":"c1","tool":"bash","state":{"status":"pending","input":{},"raw":""},"metadata":{"openai":{}}}"#,
    r#"{"type":"tool","callID":"c1","tool":"bash","state":{"status":"running","input":{"command":"ls"},"title":"t","metadata":{"output":""},"time":{"start":5}}}"#,
    r#"{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"o","title":"t","metadata":{"exit":0},"time":{"start":5,"end":6,"compacted":7},"attachments":[{"id":"prt_2","sessionID":"ses_1","messageID":"msg_1","type":"file","mime":"image/png","url":"data:,"}]}}"#,
    r#"{"type":"tool","callID":"c1","tool":"bash","state":{"status":"error","input":{"command":"ls"},"error":"e","metadata":{"interrupted":true},"time":{"start":5,"end":6}}}"#,
    r#"{"type":"agent","name":"plan","source":{"value":"@plan","start":0,"end":5}}"#,
    r#"{"type":"subtask","prompt":"p","description":"d","agent":"general","model":{"providerID":"p","modelID":"m"},"command":"c"}"#,
    r#"{"type":"step-start","snapshot":"abc"}"#,
    r#"{"type":"step-finish","reason":"stop","snapshot":"abc","cost":2.50,"tokens":{"total":1e1,"input":1.0,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}"#,
    r#"{"type":"snapshot","snapshot":"abc"}"#,
    r#"{"type":"patch","hash":"abc","files":["/a","/b"]}"#,
    r#"{"type":"retry","attempt":1,"error":{"name":"APIError","data":{"message":"m","statusCode":500,"isRetryable":true,"responseHeaders":{"a":"b"},"responseBody":"b","metadata":{"url":"u"}}},"time":{"created":1}}"#,
    r#"{"type":"compaction","auto":true,"overflow":false,"tail_start_id":"msg_1"}"#,
];

pub const MESSAGES: &[&str] = &[
    r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1.50},"format":{"type":"json_schema","schema":{"type":"object"},"retryCount":2},"summary":{"title":"t","body":"b","diffs":[{"file":"a","patch":"p","additions":1,"deletions":0,"status":"modified"}]},"agent":"build","model":{"providerID":"p","modelID":"m","variant":"high"},"system":"s","tools":{"bash":false}}"#,
    r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1},"format":{"type":"text"},"agent":"build","model":{"providerID":"p","modelID":"m"}}"#,
    r#"{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":1,"completed":2},"error":{"name":"UnknownError","data":{"message":"m","ref":"err_1"}},"parentID":"msg_1","modelID":"m","providerID":"p","mode":"build","agent":"build","path":{"cwd":"/a","root":"/"},"summary":true,"cost":5.0e-1,"tokens":{"total":1E1,"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}},"structured":[1],"variant":"high","finish":"stop"}"#,
];

pub const ERRORS: &[&str] = &[
    r#"{"name":"ProviderAuthError","data":{"providerID":"p","message":"m"}}"#,
    r#"{"name":"UnknownError","data":{"message":"m"}}"#,
    r#"{"name":"MessageOutputLengthError","data":{}}"#,
    r#"{"name":"MessageAbortedError","data":{"message":"Aborted"}}"#,
    r#"{"name":"StructuredOutputError","data":{"message":"m","retries":2}}"#,
    r#"{"name":"ContextOverflowError","data":{"message":"m","responseBody":"b"}}"#,
    r#"{"name":"ContentFilterError","data":{"message":"m"}}"#,
    r#"{"name":"APIError","data":{"message":"m","isRetryable":false}}"#,
];

pub const SESSION: &str = r#"{"id":"ses_1","slug":"calm-river","projectID":"p","workspaceID":"wrk_1","directory":"/a","path":"","parentID":"ses_0","summary":{"additions":1.0,"deletions":0,"files":1,"diffs":[{"additions":1,"deletions":0}]},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"share":{"url":"https://x"},"title":"t","agent":"build","model":{"id":"m","providerID":"p","variant":"default"},"version":"1.18.33","metadata":{"a":1},"time":{"created":1,"updated":2,"compacting":3,"archived":-1.50},"permission":[{"permission":"bash","pattern":"*","action":"ask"}],"revert":{"messageID":"msg_1","partID":"prt_1","snapshot":"s","diff":"d"}}"#;

/// Types and data of events, one of each line of both tables.
pub fn events() -> Vec<(&'static str, String)> {
    let session = format!(r#"{{"sessionID":"ses_1","info":{SESSION}}}"#);
    vec![
        ("session.created", session.clone()),
        ("session.updated", session.clone()),
        ("session.deleted", session),
        ("message.updated", format!(r#"{{"sessionID":"ses_1","info":{}}}"#, MESSAGES[2])),
        ("message.removed", r#"{"sessionID":"ses_1","messageID":"msg_1"}"#.to_owned()),
        ("message.part.updated", format!(r#"{{"sessionID":"ses_1","part":{},"time":5}}"#, PARTS[0])),
        ("message.part.removed", r#"{"sessionID":"ses_1","messageID":"msg_1","partID":"prt_1"}"#.to_owned()),
        (
            "message.part.delta",
            r#"{"sessionID":"ses_1","messageID":"msg_1","partID":"prt_1","field":"text","delta":"a"}"#.to_owned(),
        ),
        ("session.diff", r#"{"sessionID":"ses_1","diff":[{"file":"a","additions":1,"deletions":0,"status":"added"}]}"#.to_owned()),
        ("session.error", format!(r#"{{"sessionID":"ses_1","error":{}}}"#, ERRORS[7])),
        (
            "session.status",
            r#"{"sessionID":"ses_1","status":{"type":"retry","attempt":1,"message":"m","action":{"reason":"r","provider":"p","title":"t","message":"m","label":"l","link":"k"},"next":5}}"#.to_owned(),
        ),
        ("session.idle", r#"{"sessionID":"ses_1"}"#.to_owned()),
        ("session.compacted", r#"{"sessionID":"ses_1"}"#.to_owned()),
        ("todo.updated", r#"{"sessionID":"ses_1","todos":[{"content":"c","status":"pending","priority":"low"}]}"#.to_owned()),
        (
            "permission.asked",
            r#"{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["ls"],"metadata":{},"always":["ls *"],"tool":{"messageID":"msg_1","callID":"c"}}"#.to_owned(),
        ),
        ("permission.replied", r#"{"sessionID":"ses_1","requestID":"per_1","reply":"once"}"#.to_owned()),
        ("command.executed", r#"{"name":"n","sessionID":"ses_1","arguments":"a","messageID":"msg_1"}"#.to_owned()),
        ("file.edited", r#"{"file":"/a"}"#.to_owned()),
        (
            "project.updated",
            r#"{"id":"p","worktree":"/","vcs":"git","name":"n","icon":{},"commands":{},"time":{"created":1,"updated":2,"initialized":3},"sandboxes":["/s"]}"#.to_owned(),
        ),
        ("server.connected", "{}".to_owned()),
        ("server.heartbeat", "{}".to_owned()),
        ("server.instance.disposed", r#"{"directory":"/a"}"#.to_owned()),
        ("global.disposed", "{}".to_owned()),
    ]
}
