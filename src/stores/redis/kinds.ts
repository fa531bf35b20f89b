export type Args = (string | number)[]

/** What runs of one kind have in common: what a script needs to know, fields of their hashes, and the names of the others. */
export interface Kind {
  readonly head: Args
  readonly common: Args
  /** One for each value that a run has of its own, in their order. */
  readonly names: readonly string[]
}

/**
 * Runs as arguments of a script. What many of one call have in common, the names of their fields above all, is sent once for
 * all of them, as their kind: to read an argument takes a server as long as to store it.
 */
export class Kinds {
  readonly #numbers = new Map<string, number>()
  readonly #args: Args = []

  /** As `lua/kinds.ts` takes them: how many, then each. They come before the runs. */
  get args(): Args {
    return [this.#numbers.size, ...this.#args]
  }

  numberOf(key: string, describe: () => Kind): number {
    const found = this.#numbers.get(key)
    if (found !== undefined) return found
    const { head, common, names } = describe()
    this.#args.push(common.length, names.length, ...head, ...common, ...names)
    this.#numbers.set(key, this.#numbers.size + 1)
    return this.#numbers.size
  }
}
