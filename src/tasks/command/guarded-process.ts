import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { MessageChannel } from "node:worker_threads"
import type { Clock } from "../../runtime/clock.ts"
import { GUARD_SOURCE, type GuardOrder, type GuardReport } from "./guard.ts"

/** How a command ended. `error` is the system's code if the command could not be started. */
export interface ProcessEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly error: string | null
}

export interface ProcessStreams {
  readonly stdout: (chunk: Buffer) => void
  readonly stderr: (chunk: Buffer) => void
}

/** A guard that is still there this long after the grace period is killed, and the command's group with it. */
const BACKSTOP_MS = 750
/** How long the end of the output is waited for. A process that left the group may hold the output open for ever. */
const LAST_OUTPUT_MS = 500
const REPORT_MAX_LENGTH = 4_096

/** Runs a command behind its guard until its whole process group is gone. An abort sends SIGTERM, then SIGKILL. */
export async function runGuarded(
  order: GuardOrder,
  about: { streams: ProcessStreams; signal: AbortSignal; clock: Clock },
): Promise<ProcessEnd> {
  const { signal, clock } = about
  // The guard's own environment is empty: variables for the command, such as NODE_OPTIONS, must not change the guard.
  const guard = spawn(process.execPath, ["-e", GUARD_SOURCE], {
    detached: true,
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  })
  const exited = exitOf(guard)
  // Without a free descriptor there is no process and no pipe, and this rejects.
  if (guard.stdin === undefined) await exited
  let cancelBackstop: () => void = () => undefined
  const reports = readReports(guard)
  const stop = () => {
    guard.stdin!.end()
    cancelBackstop = clock.setTimer(order.graceMs + BACKSTOP_MS, () => killAll(guard, reports.pid()))
  }
  // A write to a guard that has already ended may fail without harm.
  guard.stdin!.on("error", () => undefined)
  readInto(guard.stdout!, about.streams.stdout)
  readInto(guard.stderr!, about.streams.stderr)
  guard.stdin!.write(`${JSON.stringify(order)}\n`)
  if (signal.aborted) stop()
  signal.addEventListener("abort", stop, { once: true })
  try {
    await exited
    await closingOf(guard.stdio[3] as Readable)
    const end = reports.end() ?? endByForce(guard, reports.pid())
    await lastOutputOf(guard, clock)
    return end
  } finally {
    cancelBackstop()
    signal.removeEventListener("abort", stop)
  }
}

function readInto(stream: Readable, take: (chunk: Buffer) => void): void {
  stream.on("data", (chunk: Buffer) => {
    take(chunk)
    freeMemory(chunk)
  })
}

const closedPort = new MessageChannel().port1
closedPort.close()

/**
 * Frees a chunk that was read, by transferring its memory to a closed port. V8 counts such memory late: while a command writes
 * 200 MB, a worker grows by 34 MB without this and by 2 MB with it.
 */
function freeMemory(chunk: Buffer): void {
  const memory = chunk.buffer as ArrayBuffer
  // Small chunks may share their memory with others.
  if (chunk.length >= FREED_MIN_BYTES && chunk.length === memory.byteLength)
    closedPort.postMessage(null, [memory])
}

const FREED_MIN_BYTES = 1024

/** The guard was killed before it reported an end, so the group is killed here. */
function endByForce(guard: ChildProcess, pid: number | null): ProcessEnd {
  killAll(guard, pid)
  return { exitCode: null, signal: "SIGKILL", error: null }
}

function killAll(guard: ChildProcess, pid: number | null): void {
  if (pid !== null) {
    try {
      process.kill(-pid, "SIGKILL")
    } catch (error) {
      // The group has already ended, or has only zombies (EPERM on macOS).
      const { code } = error as NodeJS.ErrnoException
      if (code !== "ESRCH" && code !== "EPERM") throw error
    }
  }
  guard.kill("SIGKILL")
}

function readReports(guard: ChildProcess): { pid(): number | null; end(): ProcessEnd | null } {
  let text = ""
  const pipe = guard.stdio[3] as Readable
  pipe.on("error", () => undefined)
  pipe.on("data", (chunk: Buffer) => {
    if (text.length < REPORT_MAX_LENGTH) text += chunk.toString("utf8")
  })
  const reports = () =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as GuardReport)
  return {
    pid: () => reports().find((report) => "pid" in report)?.pid ?? null,
    end() {
      const report = reports().find((each) => !("pid" in each))
      if (report === undefined) return null
      if ("error" in report) return { exitCode: null, signal: null, error: report.error }
      return "pid" in report ? null : { ...report, error: null }
    },
  }
}

function exitOf(guard: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    guard.on("error", reject)
    guard.on("exit", () => resolve())
  })
}

async function lastOutputOf({ stdout, stderr }: ChildProcess, clock: Clock): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancelTimer = clock.setTimer(LAST_OUTPUT_MS, resolve)
    void Promise.all([closingOf(stdout!), closingOf(stderr!)]).then(() => {
      cancelTimer()
      resolve()
    })
  })
  stdout!.destroy()
  stderr!.destroy()
}

function closingOf(stream: Readable): Promise<void> {
  if (stream.closed) return Promise.resolve()
  return new Promise((resolve) => {
    stream.once("close", resolve)
  })
}
