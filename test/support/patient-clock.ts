import { type Clock, systemClock } from "../../src/runtime/clock.ts"
import { PATIENCE_MS } from "./patience.ts"

/** The deadline of a call in production. */
const DEADLINE_MS = 5_000

/** The system's clock with a longer deadline for calls, so that no call fails on a machine that stalls for a while. */
export const patientClock: Clock = {
  ...systemClock,
  setTimer: (delayMs, callback) =>
    systemClock.setTimer(delayMs === DEADLINE_MS ? PATIENCE_MS : delayMs, callback),
}
