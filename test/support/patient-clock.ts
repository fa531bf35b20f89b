import { type Clock, systemClock } from "../../src/runtime/clock.ts"
import { PATIENCE_MS } from "./patience.ts"

/** What users get as the deadline of a call. */
const DEADLINE_MS = 5_000

/** The system's clock, but calls have a longer deadline: a machine that stands still for a while makes none of them fail. */
export const patientClock: Clock = {
  ...systemClock,
  setTimer: (delayMs, callback) =>
    systemClock.setTimer(delayMs === DEADLINE_MS ? PATIENCE_MS : delayMs, callback),
}
