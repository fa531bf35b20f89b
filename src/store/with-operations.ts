import type { Store } from "./store.ts"

/** The store with some of its operations replaced. A proxy and not a copy: a store may be an object of a class. */
export function withOperations(store: Store, operations: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const replaced = operations[name as keyof Store]
      if (replaced !== undefined) return replaced
      const value: unknown = Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}
