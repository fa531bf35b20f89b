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

/** Where a store is put to the test. */
export interface Lab {
  /**
   * A fresh, empty store, opened. Each case asks once, so a lab may close the one before, and its peers, when it is asked
   * again. Closing is the lab's business: no case does it but those that are about it.
   */
  openStore(): Promise<Store>
  /**
   * Another way to the same data as the case's store, opened: with connections of its own, as another process would have
   * them, so that no lock within a process can stand for one in the database. Each case asks a few times.
   */
  openPeer(): Promise<Store>
  /** Lets at least that much of the store's time pass: virtually where possible, else by waiting. */
  pass(ms: number): Promise<void>
}

export function lawCase(title: string, proof: (store: Store, lab: Lab) => Promise<void>): LawCase {
  return { title, prove: async (lab) => proof(await lab.openStore(), lab) }
}
