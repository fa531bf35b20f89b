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

/** With a server of a few lines: it has a child, as many servers do, and counts its lives in a file. */

const PROGRAM = `
  const { appendFileSync } = require("node:fs")
  const child = require("node:child_process").spawn("sleep", ["1000"])
  require("node:net").createServer((socket) => socket.end(String(child.pid))).listen(process.argv[1], "127.0.0.1")
  process.on("SIGTERM", () => { child.kill(); process.exit() })
  appendFileSync("lives", "I")
`

const PLAN: ServerPlan = {
  name: "A server of a few lines",
  user: null,
  command: (_folder, port) => ({ program: process.execPath, args: ["-e", PROGRAM, String(port)] }),
  isReady: async (_folder, port) => (await childOf(port)) !== null,
  stopSignal: "SIGTERM",
}

const started: ThrowawayServer[] = []
const strangers: ChildProcess[] = []

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
  for (const stranger of strangers.splice(0)) stranger.kill("SIGKILL")
})

test("a stopped server leaves no process and no folder", async () => {
  const server = await start()
  const pids = [server.pid!, (await childOf(server.port))!]

  await server.stop()

  await goneAfter(pids)
  assert.equal(existsSync(server.folder), false)
})

test("a killed server takes its children with it, and comes back in its folder, at its port", async () => {
  const server = await start()
  const { port } = server
  const pids = [server.pid!, (await childOf(port))!]

  await server.kill()
  assert.deepEqual([server.pid, ...pids.map(isAlive)], [null, false, false])

  await server.restart()
  assert.equal(server.port, port)
  assert.equal(readFileSync(join(server.folder, "lives"), "utf8"), "II")
})

test("a server that doesn't start says why, and leaves no folder", async () => {
  let seen = ""
  const command = (folder: string) => {
    seen = folder
    return { program: process.execPath, args: ["-e", 'throw new Error("no disk")'] }
  }

  await assert.rejects(
    ThrowawayServer.start({ ...PLAN, command }),
    /A server of a few lines doesn't start.*no disk/s,
  )

  assert.equal(existsSync(seen), false)
})

test("a server whose port was taken in the last moment gets another", async () => {
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
    const { folder, pid } = leftover({ owner: "4194303-1", isThere: true })

    await sweepServers()

    await goneAfter([pid])
    assert.equal(existsSync(folder), false)
  })

  test("are not mistaken for whoever got their number since", async () => {
    const { folder, pid } = leftover({ owner: "4194303-1", isThere: false })

    await sweepServers()

    assert.deepEqual([existsSync(folder), isAlive(pid)], [false, true])
  })

  test("are told from those of a living one", async () => {
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

/** A folder as a run leaves it, and a process whose number is in it, whether or not that one lives there. */
function leftover({ owner, isThere }: { owner: string; isThere: boolean }): { folder: string; pid: number } {
  const folder = mkdtempSync(join(tmpdir(), `belfry-server-${owner}-`))
  const stranger = spawn("sleep", ["1000"], { cwd: isThere ? folder : tmpdir() })
  strangers.push(stranger)
  writeFileSync(join(folder, "pid"), String(stranger.pid))
  return { folder, pid: stranger.pid! }
}

/** The pid that the server tells whoever connects; null if nobody answers. */
function childOf(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("data", (bytes) => resolve(Number(bytes)))
    socket.once("error", () => resolve(null))
  })
}
