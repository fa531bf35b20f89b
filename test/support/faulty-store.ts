import type { Store } from "../../src/store/store.ts"

const never = new Promise<never>(() => undefined)

export type Operation = keyof Store

/** A store that fails on demand: before an operation takes effect, after it (the reply is lost), or by never answering. */
export interface FaultyStore {
  readonly store: Store
  /** All operations that were called, in order, also those that failed. */
  readonly calls: Operation[]
  count(operation: Operation): number
  /** From now on these operations throw and do nothing. Without arguments: all operations. */
  breakDown(...operations: readonly Operation[]): void
  /** From now on these operations take effect, then throw. Without arguments: all operations. */
  loseReplies(...operations: readonly Operation[]): void
  /** From now on these operations do nothing and never answer. Without arguments: all operations. */
  fallSilent(...operations: readonly Operation[]): void
  mend(): void
}

export function faultyStore(store: Store): FaultyStore {
  const calls: Operation[] = []
  let isBroken: (operation: Operation) => boolean = () => false
  let isReplyLost: (operation: Operation) => boolean = () => false
  let isSilent: (operation: Operation) => boolean = () => false
  const among = (operations: readonly Operation[]) => (operation: Operation) =>
    operations.length === 0 || operations.includes(operation)

  const wrapped = new Proxy(store, {
    get(target, name) {
      const operation = name as Operation
      const original = target[operation] as (...given: unknown[]) => Promise<unknown>
      return async (...given: unknown[]) => {
        calls.push(operation)
        if (isBroken(operation)) throw new Error(`The store is away (${operation})`)
        if (isSilent(operation)) await never
        const answer = await original(...given)
        if (isReplyLost(operation)) throw new Error(`The reply was lost (${operation})`)
        return answer
      }
    },
  })
  return {
    store: wrapped,
    calls,
    count: (operation) => calls.filter((call) => call === operation).length,
    breakDown(...operations) {
      isBroken = among(operations)
    },
    loseReplies(...operations) {
      isReplyLost = among(operations)
    },
    fallSilent(...operations) {
      isSilent = among(operations)
    },
    mend() {
      isSilent = () => false
      isBroken = () => false
      isReplyLost = () => false
    },
  }
}
