import type { Clock } from "../../runtime/clock.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"

/**
 * Calls `check` at an interval until it returns an exit code, or until Ctrl-C. When `awaited` settles, the current pause ends
 * and `check` is called at once.
 */
export async function untilInterrupted(
  { io }: Call,
  everyMs: number,
  check: () => Promise<ExitCode | null>,
  awaited: Promise<unknown> | null = null,
): Promise<ExitCode> {
  let wake: () => void = () => undefined
  let isInterrupted = false
  let isAwaitedOver = false
  const off = io.onSignal(() => {
    isInterrupted = true
    wake()
  })
  const onSettled = () => {
    isAwaitedOver = true
    wake()
  }
  awaited?.then(onSettled, onSettled)
  try {
    while (!isInterrupted) {
      const wasOver = isAwaitedOver
      const exitCode = await check()
      if (exitCode !== null) return exitCode
      if (isInterrupted) break
      if (isAwaitedOver && !wasOver) continue
      await new Promise<void>((resolve) => {
        const stop = io.clock.setTimer(everyMs, resolve)
        wake = () => {
          stop()
          resolve()
        }
      })
    }
    return EXIT.interrupted
  } finally {
    off()
  }
}

/** Waits for the promise, or until Ctrl-C. */
export async function orInterrupted<Answer>(
  { io }: Call,
  awaited: Promise<Answer>,
): Promise<Answer | "interrupted"> {
  let off: () => void = () => undefined
  const interrupted = new Promise<"interrupted">((resolve) => {
    off = io.onSignal(() => resolve("interrupted"))
  })
  // After Ctrl-C the session is closed, and then the promise rejects.
  awaited.catch(() => undefined)
  try {
    return await Promise.race([awaited, interrupted])
  } finally {
    off()
  }
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(ms, resolve)
  })
}
