import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const TSX = fileURLToPath(import.meta.resolve("tsx/cli"))
const COUNTER = fileURLToPath(new URL("./counter.ts", import.meta.url))
const LOCK = new URL("../../src/lock.ts", import.meta.url).href

/** A process that runs this long has failed: a lock keeps it alive for an hour. */
const HANGS_MS = 200_000

/** The output of a program. Its variable `locks` has locks in memory. */
export async function printedBy(program: string): Promise<string> {
  const text = `(async () => {
    const { createLocks, memoryLocks } = await import(${JSON.stringify(LOCK)})
    const locks = createLocks(memoryLocks())
    ${program}
  })()`
  const { stdout } = await promisify(execFile)(process.execPath, [TSX, "--eval", text], { timeout: HANGS_MS })
  return stdout.trim()
}

export interface Turn {
  readonly count: number
  readonly fence: number
}

/** Another process, which increments the count in a file twenty times, each time under the lock. */
export async function inAnotherProcess(
  kind: "sqlite" | "postgres" | "redis",
  where: string,
  file: string,
  prefix = "belfry",
): Promise<readonly Turn[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [TSX, COUNTER, kind, where, file, prefix])
  return JSON.parse(stdout) as readonly Turn[]
}
