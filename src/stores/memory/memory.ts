import { checkNothingElse } from "../../core/options/checked.ts"
import { systemClock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"
import { createMemoryStore } from "./memory-store.ts"

/** A store in the memory of the process. It needs no installation, and its data ends with the process. For tests and trials. */
export function memory(): Store
export function memory(...others: readonly unknown[]): Store {
  checkNothingElse(others, "memory() takes no argument")
  return Object.assign(createMemoryStore(systemClock), { kind: "memory" })
}
