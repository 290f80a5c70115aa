// What the SDK does itself: start a command named `opencode`, wait for its line, end it.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createOpencode } from "@opencode-ai/sdk"
import { foreign, named } from "./server.mjs"

test("createOpencode()", { skip: foreign ? "it starts a server of its own" : false }, async () => {
  const { undo } = named()
  try {
    const { client, server } = await createOpencode({ port: 0, config: { logLevel: "DEBUG", model: "chat/m1" } })
    try {
      assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/)
      const session = await client.session.create({ body: { title: "started" } })
      const said = await client.session.prompt({ path: { id: session.data.id }, body: { noReply: true, parts: [{ type: "text", text: "hi" }] } })
      assert.equal(said.data.info.model.modelID, "m1")
      const listed = await client.session.list()
      assert.deepEqual(listed.data.map((one) => one.title), ["started"])
      const events = await client.event.subscribe()
      for await (const event of events.stream) {
        assert.equal(event.type, "server.connected")
        break
      }
    } finally {
      server.close()
    }
  } finally {
    undo()
  }
})

test("createOpencode() hears why a server does not start", { skip: foreign ? "it starts a server of its own" : false }, async () => {
  const { undo } = named()
  try {
    const first = await createOpencode({ port: 0 })
    try {
      const port = Number(new URL(first.server.url).port)
      await assert.rejects(createOpencode({ port }), new RegExp(`port ${port} is taken by opencode \\(process \\d+\\).*--port 0`, "s"))
    } finally {
      first.server.close()
    }
  } finally {
    undo()
  }
})
