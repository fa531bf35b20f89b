import type { Clock } from "../../runtime/clock.ts"

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
