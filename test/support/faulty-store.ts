import type { Store } from "../../src/store/store.ts"

const never = new Promise<never>(() => undefined)

export type Operation = keyof Store

/** A store that fails on demand: before the operation takes effect, or after, when only the reply is lost, or by silence. */
export interface FaultyStore {
  readonly store: Store
  /** The operations called, in order, whether or not they were let through. */
  readonly calls: Operation[]
  count(operation: Operation): number
  /** From now on these throw and do nothing; all of them if none is named. */
  breakDown(...operations: readonly Operation[]): void
  /** From now on these take effect, then throw. */
  loseReplies(...operations: readonly Operation[]): void
  /** From now on these do nothing and never answer; all of them if none is named. */
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
