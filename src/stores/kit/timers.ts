import type { Clock } from "../../runtime/clock.ts"

/**
 * The timer, the monotonic clock and the random numbers that a store uses: the system's, or a test's. With random delays,
 * processes that wait for the same thing try again at different times.
 */
export type Timers = Pick<Clock, "setTimer" | "monotonic" | "random">
