import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { differs, start, text } from "./server.mjs"

let server, client
before(async () => {
  server = await start()
  client = server.client
})
after(() => server.close())

const ok = (result) => {
  assert.equal(result.error, undefined, JSON.stringify(result.error))
  return result.data
}
const status = (result) => result.response.status
const fresh = async (more) => ok(await client.session.create({ title: "sdk", ...more }))
const say = async (session, words, more) =>
  ok(await client.session.prompt({ sessionID: session.id, noReply: true, parts: [text(words)], ...more }))
const NONE = "ses_000000000000AAAAAAAAAAAAAA"

test("health, path, project, config, agents", async () => {
  assert.deepEqual(ok(await client.global.health()), { healthy: true, version: "1.18.33" })
  assert.equal(ok(await client.path.get()).directory, server.directory)
  assert.equal(typeof ok(await client.project.current()).id, "string")
  await fresh()
  assert.ok(ok(await client.project.list()).length > 0)
  assert.equal(ok(await client.config.get()).model, "chat/m1")
  const agents = ok(await client.app.agents()).map((agent) => agent.name)
  assert.ok(agents.includes("build") && agents.includes("plan"))
})

test("create, get, list, update, children, delete", async () => {
  const session = await fresh({ metadata: { ticket: 7 }, agent: "plan" })
  assert.equal(session.version, "1.18.33")
  assert.deepEqual(ok(await client.session.get({ sessionID: session.id })), session)
  assert.ok(ok(await client.session.list()).some((one) => one.id === session.id))
  assert.equal(ok(await client.session.list({ limit: 1 })).length, 1)
  const renamed = ok(await client.session.update({ sessionID: session.id, title: "renamed", time: { archived: 1790000000000 } }))
  assert.equal(renamed.title, "renamed")
  assert.equal(renamed.time.archived, 1790000000000)
  const child = await fresh({ parentID: session.id })
  assert.deepEqual(ok(await client.session.children({ sessionID: session.id })).map((one) => one.id), [child.id])
  assert.deepEqual(ok(await client.session.todo({ sessionID: session.id })), [])
  assert.deepEqual(ok(await client.session.diff({ sessionID: session.id })), [])
  assert.equal(ok(await client.session.status())[session.id], undefined)
  assert.equal(ok(await client.session.delete({ sessionID: session.id })), true)
  assert.equal(status(await client.session.get({ sessionID: child.id })), 404)
})

test("prompt, messages, message, parts", async () => {
  const session = await fresh()
  const said = await say(session, "hello", { parts: [text("hello"), { type: "file", mime: "text/plain", url: `file://${server.directory}/hello.txt` }] })
  assert.equal(said.info.role, "user")
  assert.deepEqual(said.parts.map((part) => part.type), ["text", "text", "text", "file"])
  assert.match(said.parts[2].text, /<content>\n1: one\n2: two\n\n\(End of file - total 2 lines\)\n<\/content>$/)
  const all = ok(await client.session.messages({ sessionID: session.id }))
  assert.deepEqual(all.map((one) => one.info.id), [said.info.id])
  const one = ok(await client.session.message({ sessionID: session.id, messageID: said.info.id }))
  assert.deepEqual(one, all[0])
  const part = { ...one.parts[0], text: "edited" }
  const at = { sessionID: session.id, messageID: said.info.id, partID: part.id }
  assert.equal(ok(await client.part.update({ ...at, part })).text, "edited")
  assert.equal(ok(await client.part.delete(at)), true)
  const left = ok(await client.session.message({ sessionID: session.id, messageID: said.info.id }))
  assert.equal(left.parts.length, 3)
  assert.equal(ok(await client.session.deleteMessage({ sessionID: session.id, messageID: said.info.id })), true)
  assert.deepEqual(ok(await client.session.messages({ sessionID: session.id })), [])
})

test("paging", async () => {
  const session = await fresh()
  const said = []
  for (let n = 0; n < 5; n++) said.push((await say(session, `message ${n}`)).info.id)
  let met = []
  let before
  for (let pages = 0; pages < 10; pages++) {
    const page = await client.session.messages({ sessionID: session.id, limit: 2, before })
    met = [...ok(page).map((one) => one.info.id), ...met]
    before = page.response.headers.get("x-next-cursor") ?? undefined
    if (!before) break
    assert.match(page.response.headers.get("link"), /rel="next"$/)
  }
  assert.deepEqual(met, said)
  const first = await client.experimental.session.list({ limit: 1 })
  assert.equal(ok(first).length, 1)
  assert.equal(typeof ok(first)[0].project, "object")
})

test("fork, revert, unrevert, abort", async () => {
  const session = await fresh({ title: "work" })
  await say(session, "one")
  const second = await say(session, "two")
  const fork = ok(await client.session.fork({ sessionID: session.id, messageID: second.info.id }))
  assert.equal(fork.title, "work (fork #1)")
  assert.equal(ok(await client.session.messages({ sessionID: fork.id })).length, 1)
  const reverted = ok(await client.session.revert({ sessionID: session.id, messageID: second.info.id }))
  assert.equal(reverted.revert.messageID, second.info.id)
  assert.equal(ok(await client.session.unrevert({ sessionID: session.id })).revert, undefined)
  ok(await client.session.revert({ sessionID: session.id, messageID: second.info.id }))
  await say(session, "instead")
  assert.equal(ok(await client.session.messages({ sessionID: session.id })).length, 2)
  assert.equal(ok(await client.session.abort({ sessionID: session.id })), true)
})

test("share is refused and unshare is not", async () => {
  const session = await fresh()
  assert.equal(status(await client.session.share({ sessionID: session.id })), 500)
  assert.equal(ok(await client.session.unshare({ sessionID: session.id })).id, session.id)
})

test("permissions and questions", async () => {
  const session = await fresh()
  assert.deepEqual(ok(await client.permission.list()), [])
  assert.deepEqual(ok(await client.question.list()), [])
  const unknown = "per_000000000000AAAAAAAAAAAAAA"
  assert.equal(status(await client.permission.reply({ requestID: unknown, reply: "once" })), 404)
  assert.equal(status(await client.permission.respond({ sessionID: session.id, permissionID: unknown, response: "once" })), 404)
  assert.equal(status(await client.question.reject({ requestID: "que_000000000000AAAAAAAAAAAAAA" })), 404)
})

test("sync", async () => {
  assert.equal(ok(await client.sync.start()), true)
  assert.equal(status(await client.sync.steal({ sessionID: (await fresh()).id })), 400)
})

test("errors", async () => {
  const missing = await client.session.get({ sessionID: NONE })
  assert.equal(status(missing), 404)
  assert.deepEqual(missing.error, { name: "NotFoundError", data: { message: `Session not found: ${NONE}` } })
  await assert.rejects(client.session.get({ sessionID: NONE }, { throwOnError: true }), /Session not found/)
  const session = await fresh()
  const misfit = await client.session.prompt({ sessionID: session.id, noReply: true, parts: [{ type: "text" }] })
  assert.equal(status(misfit), 400)
  assert.deepEqual(misfit.error, { name: "BadRequest", data: { message: 'Missing key\n  at ["parts"][0]["text"]', kind: "Payload" } })
  assert.equal(status(await client.session.messages({ sessionID: session.id, before: "x" })), 400)
})

test("events", async () => {
  const end = new AbortController()
  const { stream } = await client.event.subscribe(undefined, { signal: end.signal })
  const seen = []
  let session
  for await (const event of stream) {
    seen.push(event.type)
    if (event.type === "server.connected") {
      session = await fresh({ title: "told" })
      await say(session, "hello")
      await client.session.delete({ sessionID: session.id })
    }
    if (event.type === "session.deleted") {
      assert.equal(event.properties.info.id, session.id)
      break
    }
  }
  end.abort()
  const own = seen.filter((type) => /^(session|message)\.(created|updated|deleted|part\.updated)$/.test(type))
  // The reference tells the session's first change, too; ours is replaced by the second in one transaction.
  const lasting = own.filter((type, at) => type !== "session.updated" || own.lastIndexOf(type) === at)
  assert.deepEqual(lasting, ["session.created", "message.updated", "message.part.updated", "session.updated", "session.deleted"])
})

differs("a session id without its prefix", "a session id without its prefix is 400", async () => {
  assert.equal(status(await client.session.get({ sessionID: "bad" })), 400)
})

differs("a parent session that is not there", "a parent that is not there is 404", async () => {
  assert.equal(status(await client.session.create({ parentID: NONE })), 404)
})

differs("`POST .../message` with a `messageID` that is there", "a prompt again is answered as before, another is 409", async () => {
  const session = await fresh()
  const first = await say(session, "once", { messageID: "msg_sdk_once" })
  assert.deepEqual(await say(session, "once", { messageID: "msg_sdk_once" }).then((again) => again.info.id), first.info.id)
  const other = await client.session.prompt({ sessionID: session.id, noReply: true, messageID: "msg_sdk_once", parts: [text("twice")] })
  assert.equal(status(other), 409)
})

differs("`null` for `time.archived`", "null takes a session back out", async () => {
  const session = await fresh()
  ok(await client.session.update({ sessionID: session.id, time: { archived: 1790000000000 } }))
  assert.equal(ok(await client.session.update({ sessionID: session.id, time: { archived: null } })).time.archived, undefined)
})

differs("what takes a model", "what needs a model is 501", async () => {
  const session = await fresh()
  const at = { sessionID: session.id }
  assert.equal(status(await client.session.prompt({ ...at, parts: [text("answer")] })), 501)
  assert.equal(status(await client.session.promptAsync({ ...at, parts: [text("answer")] })), 501)
  assert.equal(status(await client.session.summarize({ ...at, providerID: "chat", modelID: "m1" })), 501)
  assert.equal(status(await client.session.shell({ ...at, agent: "build", command: "true" })), 501)
  assert.equal(status(await client.session.command({ ...at, command: "init", arguments: "" })), 501)
  assert.equal(status(await client.session.init({ ...at, providerID: "chat", modelID: "m1", messageID: "msg_x" })), 501)
})
