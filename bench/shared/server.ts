import { existsSync, readdirSync, readFileSync } from "node:fs"

/** The server that all contenders are measured on, one after the other, each in a database of its own. */
export interface BenchServer {
  /** Its version and the settings that matter, in one line. */
  readonly about: string
  freshDatabase(name: string): Promise<string>
  /** What the contender in that database costs the server while it does the work. */
  costOf<T>(url: string, work: () => Promise<T>): Promise<{ result: T; cost: Cost }>
  stop(): Promise<void>
}

export interface Cost {
  /** What was sent to the server: statements, or commands. Null where the server doesn't count them. */
  readonly statements: number | null
  /** What the server logged for a crash. This and the next are of the whole server: nobody else should be using it. */
  readonly logBytes: number
  /** Unlike the time that passes, it is about the same on a busy machine. Null if it isn't known. */
  readonly serverCpuMs: number | null
}

export function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10

/** Of the server's main process, its children, and those that have ended. */
export function cpuMsOf(pid: number | null): number | null {
  if (pid === null || !existsSync("/proc/self/stat")) return null
  let ticks = 0
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(name) : null
    if (stat === null || (name !== String(pid) && stat.parent !== pid)) continue
    ticks += stat.own + (name === String(pid) ? stat.ofEnded : 0)
  }
  return ticks * TICK_MS
}

function statOf(pid: string): { parent: number; own: number; ofEnded: number } | null {
  try {
    // After the name, which may hold anything, come state and parent; user and system time are the 12th and 13th.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ").map(Number)
    return { parent: fields[1]!, own: fields[11]! + fields[12]!, ofEnded: fields[13]! + fields[14]! }
  } catch {
    // It ended meanwhile.
    return null
  }
}
