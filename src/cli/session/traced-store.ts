import type { Store } from "../../store/store.ts"
import type { Call } from "../parsing/command.ts"

/** The same store; each call of it is told on standard error, with how long it took and how it went wrong. */
export function tracedStore(store: Store, { io }: Call): Store {
  return new Proxy(store, {
    get(target, name) {
      const operation = Reflect.get(target, name) as unknown
      if (typeof operation !== "function") return operation
      return async (...given: readonly unknown[]) => {
        const startedAt = io.clock.monotonic()
        const tell = (end: string) =>
          io.err(`store.${String(name)} ${(io.clock.monotonic() - startedAt).toFixed(1)} ms${end}\n`)
        try {
          const answer = await Reflect.apply(operation, target, given)
          tell(Array.isArray(answer) ? `, ${answer.length} answered` : "")
          return answer
        } catch (error) {
          tell(", failed")
          throw error
        }
      }
    },
  })
}
