// The server under test: a fresh one of ours, or, with CONFORMANCE_URL, one that runs already (then CONFORMANCE_DIR is the
// folder it was started in, and nothing is known of what else it holds).
import { mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { test } from "node:test"
import { createOpencodeServer } from "@opencode-ai/sdk"
import { createOpencodeClient } from "@opencode-ai/sdk/v2/client"

export const foreign = process.env.CONFORMANCE_URL
const binary = path.resolve(process.env.ANNALIST_BINARY ?? new URL("../../target/release/annalist", import.meta.url).pathname)

// Makes our command answer to the name that the SDK starts. Returns what undoes it.
export function named() {
  const room = mkdtempSync(path.join(tmpdir(), "sdk-"))
  symlinkSync(binary, path.join(room, "opencode"))
  const before = { ...process.env }
  const home = path.join(room, "home")
  mkdirSync(home)
  process.env.PATH = room + path.delimiter + process.env.PATH
  process.env.HOME = home
  for (const name of ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "OPENCODE_DB", "OPENCODE_SERVER_PASSWORD"]) delete process.env[name]
  process.env.ANNALIST_DB = path.join(room, "record.db")
  return {
    room,
    undo() {
      process.env = before
      rmSync(room, { recursive: true, force: true })
    },
  }
}

export async function start() {
  if (foreign) {
    const directory = process.env.CONFORMANCE_DIR
    if (!directory) throw new Error("CONFORMANCE_DIR: the folder in which that server was started")
    return { client: createOpencodeClient({ baseUrl: foreign, directory }), url: foreign, directory, close() {} }
  }
  const { room, undo } = named()
  const directory = path.join(room, "work")
  mkdirSync(directory)
  writeFileSync(path.join(directory, "hello.txt"), "one\ntwo\n")
  const server = await createOpencodeServer({ port: 0, config: { model: "chat/m1" } })
  return {
    client: createOpencodeClient({ baseUrl: server.url, directory }),
    url: server.url,
    directory,
    close() {
      server.close()
      undo()
    },
  }
}

// A test of something that we do otherwise on purpose; `line` is the beginning of its line in docs/compatibility.md.
export function differs(line, name, body) {
  test(name, { skip: foreign ? `differs on purpose: ${line}` : false }, body)
}

export const text = (words) => ({ type: "text", text: words })
