import { existsSync, readdirSync, readFileSync } from "node:fs"

/** The server on which all contenders are measured, one after the other, each in its own database. */
export interface BenchServer {
  /** Its version and relevant settings, in one line. */
  readonly about: string
  freshDatabase(name: string): Promise<string>
  /** Measures what the contender in that database costs the server during the work. */
  costOf<T>(url: string, work: () => Promise<T>): Promise<{ result: T; cost: Cost }>
  stop(): Promise<void>
}

export interface Cost {
  /** Statements or commands that were sent to the server. Null if the server does not count them. */
  readonly statements: number | null
  /**
   * Bytes that the server wrote to its log for recovery. This and the next are for the whole server: nothing else should use
   * it.
   */
  readonly logBytes: number
  /** CPU time, which is about the same on a busy machine, unlike elapsed time. Null if it is unknown. */
  readonly serverCpuMs: number | null
}

export function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before
}

/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10

/** The CPU time of the server's main process, its children, and its children that have ended. */
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
    // After the name, which may contain any character: state, parent, …; user and system time are the 12th and 13th fields.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ").map(Number)
    return { parent: fields[1]!, own: fields[11]! + fields[12]!, ofEnded: fields[13]! + fields[14]! }
  } catch {
    // The process has ended meanwhile.
    return null
  }
}
