import { type ChildProcess, spawn } from "node:child_process"
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { goneAfter } from "./processes.ts"
import { killWithChildren, ownFolderPrefix, sweepServers } from "./server-leftovers.ts"
import { type ServerUser, serverEnvironment } from "./server-programs.ts"

/** How to run one kind of server, with a folder of its own and a free port. */
export interface ServerPlan {
  readonly name: string
  /** The user who runs the server and owns its folder. Null: the user of the tests. */
  readonly user: ServerUser | null
  /** Prepares the folder. Called once, before the first start. */
  prepare?(folder: string): Promise<void>
  command(folder: string, port: number): { readonly program: string; readonly args: readonly string[] }
  /** Whether this server answers, and not another one that took the port. */
  isReady(folder: string, port: number): Promise<boolean>
  /** The signal for a fast and clean shutdown. */
  readonly stopSignal: NodeJS.Signals
}

/** Limits for servers that hang. Slow machines don't reach them. */
const READY_WITHIN_MS = 120_000
const STOPPED_WITHIN_MS = 60_000
const PORT_TRIES = 5

/** A server in a folder of its own. It leaves no process and no file behind. */
export class ThrowawayServer {
  readonly folder: string
  readonly #plan: ServerPlan
  #port = 0
  #child: ChildProcess | null = null

  private constructor(plan: ServerPlan, folder: string) {
    this.#plan = plan
    this.folder = folder
  }

  static async start(plan: ServerPlan): Promise<ThrowawayServer> {
    await sweepServers()
    const server = new ThrowawayServer(plan, newFolder(plan.user))
    process.once("exit", server.#remove)
    try {
      await plan.prepare?.(server.folder)
      await server.#startOnFreePort()
    } catch (cause) {
      const log = server.#logTail()
      server.#remove()
      throw new Error(`${plan.name} doesn't start: ${(cause as Error).message}\n${log}`, { cause })
    }
    return server
  }

  get port(): number {
    return this.#port
  }

  /** Null while the server is down. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Like a power cut: no shutdown, and its children are killed too. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === null) return
    const ended = endOf(child)
    await goneAfter(killWithChildren(child.pid!))
    await ended
  }

  /** Restarts in the same folder on the same port, whether the server was killed or still runs. */
  async restart(): Promise<void> {
    await this.#end()
    await this.#boot()
  }

  async stop(): Promise<void> {
    await this.#end()
    this.#remove()
  }

  async #startOnFreePort(): Promise<void> {
    for (let tries = 1; ; tries++) {
      this.#port = await freePort()
      try {
        return await this.#boot()
      } catch (error) {
        // Another process may have taken the port after the check.
        if (tries === PORT_TRIES || !/in use/i.test(this.#logTail())) throw error
      }
    }
  }

  async #boot(): Promise<void> {
    const { program, args } = this.#plan.command(this.folder, this.#port)
    const log = openSync(join(this.folder, "log"), "a")
    const child = spawn(program, args, {
      ...this.#plan.user,
      env: serverEnvironment(),
      cwd: this.folder,
      stdio: ["ignore", log, log],
    })
    closeSync(log)
    this.#child = child
    child.once("exit", () => {
      this.#child = null
    })
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject))
    writeFileSync(join(this.folder, "pid"), String(child.pid))
    await this.#untilReady()
  }

  async #untilReady(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS
    while (!(await this.#plan.isReady(this.folder, this.#port))) {
      if (this.#child === null) throw new Error("it ended before it answered")
      if (performance.now() > deadline) throw new Error(`no answer within ${READY_WITHIN_MS} ms`)
      await sleep(20)
    }
  }

  async #end(): Promise<void> {
    const child = this.#child
    if (child === null) return
    const ended = endOf(child)
    child.kill(this.#plan.stopSignal)
    const timer = setTimeout(() => killWithChildren(child.pid!), STOPPED_WITHIN_MS)
    await ended
    clearTimeout(timer)
  }

  /** Also runs when the process exits without having stopped its servers, so it must be synchronous. */
  readonly #remove = (): void => {
    process.off("exit", this.#remove)
    if (this.#child !== null) killWithChildren(this.#child.pid!)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  #logTail(): string {
    try {
      return readFileSync(join(this.folder, "log"), "utf8").slice(-2_000)
    } catch {
      return ""
    }
  }
}

function newFolder(user: ServerUser | null): string {
  const folder = mkdtempSync(join(tmpdir(), ownFolderPrefix()))
  if (user !== null) chownSync(folder, user.uid, user.gid)
  return folder
}

/** Below 32768, where the kernel's ports for outgoing connections begin: one of these could take the port. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = 10_000 + Math.floor(Math.random() * 22_000)
    if (await isFree(port)) return port
  }
  throw new Error("No free port was found in a hundred tries")
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)))
  })
}

/** The same address, with this port on this machine. */
export function atPort(url: string, port: number): string {
  const address = new URL(url)
  address.hostname = "127.0.0.1"
  address.port = String(port)
  return address.href
}

function endOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once("exit", resolve))
}
