export type Args = (string | number)[]

/** What the runs of one kind share: the head for the script, fields of their hashes, and the names of their own fields. */
export interface Kind {
  readonly head: Args
  readonly common: Args
  /** The names of the fields whose values each run sends itself, in order. */
  readonly names: readonly string[]
}

/**
 * Runs as arguments of a script. What many runs of one call share, above all the names of their fields, is sent once, as their
 * kind: the server needs as long to read an argument as to store it.
 */
export class Kinds {
  readonly #numbers = new Map<string, number>()
  readonly #args: Args = []

  /** The kinds for `lua/kinds.ts`: their number, then each kind. The runs follow them. */
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
