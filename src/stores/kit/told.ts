import type { Hint } from "../../store/store.ts"

/** What processes tell one another through their store. That it forgot something each notices by itself. */
export type Told = Exclude<Hint, "forgotten">

export const TOLD: readonly Told[] = ["schedules", "runs", "cancelled", "documents", "ended"]
