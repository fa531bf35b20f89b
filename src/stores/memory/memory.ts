import { checkNothingElse } from "../../core/checked.ts"
import { systemClock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"
import { createMemoryStore } from "./memory-store.ts"

/** A store in this process's memory: nothing to install, nothing kept. For tests, and for trying Belfry out. */
export function memory(): Store
export function memory(...others: readonly unknown[]): Store {
  checkNothingElse(others, "memory() takes no argument")
  return Object.assign(createMemoryStore(systemClock), { kind: "memory" })
}
