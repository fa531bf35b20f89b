import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

export function isAlive(pid: number): boolean {
  try {
    // A zombie has ended, though its parent hasn't read its exit code yet.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

/** Waits until all processes have ended, and returns how many milliseconds that took. The test's own timeout is the limit. */
export async function goneAfter(pids: readonly number[]): Promise<number> {
  const startedAt = performance.now()
  while (pids.some(isAlive)) await sleep(20)
  return performance.now() - startedAt
}

/** Waits for the line "<name> <number>" and returns the number. */
export async function pidIn(lines: readonly string[], name: string): Promise<number> {
  for (;;) {
    const line = lines.find((each) => each.startsWith(`${name} `))
    if (line !== undefined) return Number(line.split(" ")[1])
    await sleep(10)
  }
}
