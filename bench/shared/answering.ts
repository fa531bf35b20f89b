/** The child's side of `contender.ts`: runs the command that each message names, and sends its result back. */
export function answer(commands: Readonly<Record<string, (args: never) => unknown>>): void {
  process.on("message", async ({ id, command, args }: { id: number; command: string; args: never }) => {
    try {
      const result = command === "cpuMs" ? cpuMs() : await commands[command]!(args)
      process.send!({ id, result: result ?? null })
    } catch (error) {
      process.send!({ id, error: (error as Error).stack ?? String(error) })
    }
  })
  // The parent process has ended.
  process.on("disconnect", () => process.exit())
}

/** The CPU time that this process has used. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Calls `work` with 0, 1, 2… up to `count - 1`, with at most `atOnce` calls running at a time. */
export async function inFlight(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const take = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, take))
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Measures the milliseconds from the first call of `begin` until no work is left in the database. */
export class Stopwatch {
  #began: number | null = null
  #count = 0

  /** Called by the handlers. */
  begin(count = 1): void {
    this.#began ??= performance.now()
    this.#count += count
  }

  async untilNothingIsLeft(expected: number, isAnythingLeft: () => Promise<boolean>): Promise<number> {
    while (this.#count < expected) await pause(1)
    while (await isAnythingLeft()) await pause(5)
    if (this.#count !== expected) throw new Error(`${this.#count} handled instead of ${expected}`)
    return performance.now() - this.#began!
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
