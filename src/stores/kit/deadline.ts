import { BelfryError } from "../../core/errors.ts"
import type { Timers } from "./timers.ts"

export interface Deadline {
  /** The server, for the message. */
  readonly where: string
  readonly deadlineMs: number
  /** What is left of `deadlineMs`. Default: all of it. */
  readonly remainingMs?: number
  /** Called when the deadline has passed. Returns a further sentence for the message, or an empty text. */
  onPassed?(): string
}

/** Law 10 (Quiet) for stores on a network: settles by the deadline, even if the network hangs. `work` itself goes on. */
export function withDeadline<T>(timers: Timers, work: Promise<T>, deadline: Deadline): Promise<T> {
  const { where, deadlineMs, remainingMs = deadlineMs } = deadline
  return new Promise((resolve, reject) => {
    const stop = timers.setTimer(Math.max(0, remainingMs), () => {
      const why = deadline.onPassed?.() ?? ""
      const text = [`${where} did not answer within ${deadlineMs / 1000} s.`, why].filter(Boolean).join(" ")
      reject(new BelfryError("BELFRY_STORE_UNAVAILABLE", text))
    })
    work.then(resolve, reject).finally(stop)
  })
}
