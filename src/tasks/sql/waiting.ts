import type { Clock } from "../../runtime/clock.ts"

/** Settles by the deadline, even if the network doesn't respond. */
export function within<Result>(
  work: Promise<Result>,
  about: { ms: number; clock: Clock; late: () => Error },
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = about.clock.setTimer(about.ms, () => reject(about.late()))
    work.then(resolve, reject).finally(stop)
  })
}

/** True: the work has settled in time, whether it succeeded or failed. */
export function isOverWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = clock.setTimer(ms, () => resolve(false))
    const over = () => {
      stop()
      resolve(true)
    }
    work.then(over, over)
  })
}
