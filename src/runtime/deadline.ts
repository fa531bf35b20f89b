import { BelfryError } from "../core/errors.ts"
import type { Clock } from "./clock.ts"

/** Settles after at most `ms`, even if the network hangs. `work` itself goes on. */
export function withDeadline<T>(
  timers: Pick<Clock, "setTimer">,
  work: Promise<T>,
  { ms, late, onPassed }: { ms: number; late(): Error; onPassed?(): void },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelTimer = timers.setTimer(Math.max(0, ms), () => {
      reject(late())
      onPassed?.()
    })
    work.then(resolve, reject).finally(cancelTimer)
  })
}

/** What is known about a server that should answer. */
export interface Answering {
  /** The server, for the message. */
  readonly where: string
  readonly deadlineMs: number
  /** What is left of `deadlineMs`. Default: all of it. */
  readonly remainingMs?: number
  /** A further sentence for the message, or an empty text. */
  explain?(): string
  /** Called after the caller has its error. */
  onPassed?(): void
}

/** An answer of a database, or the error that it can't be reached. */
export function answerOf<T>(
  timers: Pick<Clock, "setTimer">,
  work: Promise<T>,
  server: Answering,
): Promise<T> {
  const { where, deadlineMs, remainingMs = deadlineMs } = server
  const late = () => {
    const sentences = [`${where} did not answer within ${deadlineMs / 1000} s.`, server.explain?.() ?? ""]
    return new BelfryError("BELFRY_STORE_UNAVAILABLE", sentences.filter(Boolean).join(" "))
  }
  return withDeadline(timers, work, { ms: remainingMs, late, onPassed: () => server.onPassed?.() })
}
