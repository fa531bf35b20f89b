import type { Hint } from "../../store/store.ts"

/** Hints that processes send one another through their store. Each process notices `forgotten` by itself. */
export type SharedHint = Exclude<Hint, "forgotten">

export const SHARED_HINTS: readonly SharedHint[] = ["schedules", "runs", "cancelled", "documents", "ended"]
