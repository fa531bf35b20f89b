import type { Store } from "../../store/store.ts"
import type { Call } from "../parsing/command.ts"

/** Prints each call of the store to standard error, with its duration and whether it failed. */
export function tracedStore(store: Store, { io }: Call): Store {
  return new Proxy(store, {
    get(target, name) {
      const operation = Reflect.get(target, name) as unknown
      if (typeof operation !== "function") return operation
      return async (...given: readonly unknown[]) => {
        const startedAt = io.clock.monotonic()
        const print = (end: string) =>
          io.err(`store.${String(name)} ${(io.clock.monotonic() - startedAt).toFixed(1)} ms${end}\n`)
        try {
          const answer = await Reflect.apply(operation, target, given)
          print(Array.isArray(answer) ? `, ${answer.length} results` : "")
          return answer
        } catch (error) {
          print(", failed")
          throw error
        }
      }
    },
  })
}
