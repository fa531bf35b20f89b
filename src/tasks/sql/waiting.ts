import type { Clock } from "../../runtime/clock.ts"

/** Ends by the deadline, whatever the network does. */
export function within<Result>(
  work: Promise<Result>,
  about: { ms: number; clock: Clock; late: () => Error },
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = about.clock.setTimer(about.ms, () => reject(about.late()))
    work.then(resolve, reject).finally(stop)
  })
}

/** False if it wasn't over by then; whether it went well is not asked. */
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
