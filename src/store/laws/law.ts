import type { Store } from "../store.ts"

/** One promise of the contract, and the cases that show whether a store keeps it. */
export interface Law {
  readonly number: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12
  readonly name: LawName
  readonly statement: string
  readonly cases: readonly LawCase[]
}

export type LawName =
  | "Whole"
  | "One clock"
  | "Fenced"
  | "Once"
  | "Alone"
  | "Single"
  | "Serial"
  | "Repeatable"
  | "Bounded"
  | "Quiet"
  | "Hints"
  | "Apart"

export interface LawCase {
  /** A sentence of the specification. */
  readonly title: string
  /** Throws if the law is broken. */
  prove(lab: Lab): Promise<void>
}

/** Gives the cases stores to test. */
export interface Lab {
  /**
   * Returns a new, empty, opened store. Each case calls this once, so a lab may close the previous store and its peers when it
   * is called again. The lab closes stores; only cases about closing close one themselves.
   */
  openStore(): Promise<Store>
  /**
   * Returns another opened store on the data of the case's store, with connections of its own, as another process would have.
   * A lock inside one process must not pass for a lock in the database. Each case calls this a few times.
   */
  openPeer(): Promise<Store>
  /** Lets at least this much time pass on the store's clock: virtual time where possible, otherwise by waiting. */
  pass(ms: number): Promise<void>
}

export function lawCase(title: string, proof: (store: Store, lab: Lab) => Promise<void>): LawCase {
  return { title, prove: async (lab) => proof(await lab.openStore(), lab) }
}
