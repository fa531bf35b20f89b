import type { Clock } from "../../runtime/clock.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"

/** Calls `check` at an interval until it returns an exit code, or until Ctrl-C. */
export async function untilInterrupted(
  { io }: Call,
  everyMs: number,
  check: () => Promise<ExitCode | null>,
): Promise<ExitCode> {
  let wake: () => void = () => undefined
  let isInterrupted = false
  const off = io.onSignal(() => {
    isInterrupted = true
    wake()
  })
  try {
    while (!isInterrupted) {
      const exitCode = await check()
      if (exitCode !== null) return exitCode
      if (isInterrupted) break
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

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(ms, resolve)
  })
}
