import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, test } from "vitest"
import { goneAfter, isAlive } from "./processes.ts"
import { sweepServers } from "./server-leftovers.ts"
import { type ServerPlan, ThrowawayServer } from "./servers.ts"

/** With a small test server: it has a child process, like many servers, and counts its starts in a file. */

const PROGRAM = `
  const { appendFileSync } = require("node:fs")
  const child = require("node:child_process").spawn("sleep", ["1000"])
  require("node:net").createServer((socket) => socket.end(String(child.pid))).listen(process.argv[1], "127.0.0.1")
  process.on("SIGTERM", () => { child.kill(); process.exit() })
  appendFileSync("starts", "I")
`

const PLAN: ServerPlan = {
  name: "A test server",
  user: null,
  command: (_folder, port) => ({ program: process.execPath, args: ["-e", PROGRAM, String(port)] }),
  isReady: async (_folder, port) => (await childOf(port)) !== null,
  stopSignal: "SIGTERM",
}

const started: ThrowawayServer[] = []
const sleepers: ChildProcess[] = []

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
  for (const sleeper of sleepers.splice(0)) sleeper.kill("SIGKILL")
})

test("a stopped server leaves no process and no folder", async () => {
  const server = await start()
  const pids = [server.pid!, (await childOf(server.port))!]

  await server.stop()

  await goneAfter(pids)
  assert.equal(existsSync(server.folder), false)
})

test("killing a server kills its children, and it restarts in its folder, on its port", async () => {
  const server = await start()
  const { port } = server
  const pids = [server.pid!, (await childOf(port))!]

  await server.kill()
  assert.deepEqual([server.pid, ...pids.map(isAlive)], [null, false, false])

  await server.restart()
  assert.equal(server.port, port)
  assert.equal(readFileSync(join(server.folder, "starts"), "utf8"), "II")
})

test("a server that doesn't start says why, and leaves no folder", async () => {
  let seen = ""
  const command = (folder: string) => {
    seen = folder
    return { program: process.execPath, args: ["-e", 'throw new Error("no disk")'] }
  }

  await assert.rejects(ThrowawayServer.start({ ...PLAN, command }), /A test server doesn't start.*no disk/s)

  assert.equal(existsSync(seen), false)
})

test("a server whose port was taken after the check gets another port", async () => {
  const taken = createServer().listen(0, "127.0.0.1")
  await once(taken, "listening")
  const ports: number[] = []
  const command = (folder: string, port: number) => {
    ports.push(port)
    return PLAN.command(folder, ports.length === 1 ? (taken.address() as { port: number }).port : port)
  }

  const server = await start({ ...PLAN, command })
  taken.close()

  assert.ok(ports.length > 1)
  assert.equal(ports.at(-1), server.port)
  assert.ok(server.port < 32_768)
})

describe("the servers of a test process that died", () => {
  test("are ended, and their folders removed", async () => {
    const { folder, pid } = leftover({ owner: "4194303-1", runsInFolder: true })

    await sweepServers()

    await goneAfter([pid])
    assert.equal(existsSync(folder), false)
  })

  test("are not confused with another process that has their pid now", async () => {
    const { folder, pid } = leftover({ owner: "4194303-1", runsInFolder: false })

    await sweepServers()

    assert.deepEqual([existsSync(folder), isAlive(pid)], [false, true])
  })

  test("are ended, but not the servers of a living process", async () => {
    const server = await start()

    await sweepServers()

    assert.deepEqual([existsSync(server.folder), isAlive(server.pid!)], [true, true])
  })
})

async function start(plan = PLAN): Promise<ThrowawayServer> {
  const server = await ThrowawayServer.start(plan)
  started.push(server)
  return server
}

/** A folder as a test process leaves it, with the pid of a process that may or may not run in the folder. */
function leftover({ owner, runsInFolder }: { owner: string; runsInFolder: boolean }): {
  folder: string
  pid: number
} {
  const folder = mkdtempSync(join(tmpdir(), `belfry-server-${owner}-`))
  const sleeper = spawn("sleep", ["1000"], { cwd: runsInFolder ? folder : tmpdir() })
  sleepers.push(sleeper)
  writeFileSync(join(folder, "pid"), String(sleeper.pid))
  return { folder, pid: sleeper.pid! }
}

/** The pid of the server's child, which the server sends to each client. Null: no answer. */
function childOf(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("data", (bytes) => resolve(Number(bytes)))
    socket.once("error", () => resolve(null))
  })
}
