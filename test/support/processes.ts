import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

export function isAlive(pid: number): boolean {
  try {
    // A zombie is dead, though nobody has buried it yet.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

/** How long, in milliseconds, until all of them are gone; the test's own timeout is the limit. */
export async function goneAfter(pids: readonly number[]): Promise<number> {
  const startedAt = performance.now()
  while (pids.some(isAlive)) await sleep(20)
  return performance.now() - startedAt
}

/** The number in the line "<name> <number>", once it is there. */
export async function pidIn(lines: readonly string[], name: string): Promise<number> {
  for (;;) {
    const line = lines.find((each) => each.startsWith(`${name} `))
    if (line !== undefined) return Number(line.split(" ")[1])
    await sleep(10)
  }
}
