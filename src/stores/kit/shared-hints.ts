import type { Hint } from "../../store/store.ts"

/** What processes tell one another through their store. That it forgot something each notices by itself. */
export type SharedHint = Exclude<Hint, "forgotten">

export const SHARED_HINTS: readonly SharedHint[] = ["schedules", "runs", "cancelled", "documents", "ended"]
