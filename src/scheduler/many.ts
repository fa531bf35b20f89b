import {
  type Checked,
  checked,
  checkedValue,
  isRecordLike,
  type OptionSource,
  type OptionTable,
} from "../core/checked.ts"
import { BelfryError, type ErrorCode } from "../core/errors.ts"
import { callback, flag, integer, list, required } from "../core/kinds.ts"
import { LOOKUP } from "../core/limits.ts"

/** How a step is done to many. */
export interface ManyOptions {
  /** Only says what would happen. */
  readonly dryRun?: boolean
  /** How many at most; all unless said. */
  readonly limit?: number
  readonly onProgress?: (done: number) => void
}

/** What became of a step that was asked for many. */
export interface ManyReport {
  /** To which it was done. */
  readonly ids: readonly string[]
  /** To which it couldn't be done, and why: they have moved meanwhile, or aren't there. They don't keep the others. */
  readonly refused: readonly Refused[]
}

export interface Refused {
  readonly id: string
  readonly code: ErrorCode
  readonly message: string
}

export const MANY_OPTIONS = {
  dryRun: flag,
  limit: integer(1, 1_000_000),
  onProgress: callback<(done: number) => void>(),
}

/** Which ones: by their ids, or by a filter. */
export type Selection<Filter> = readonly string[] | (Filter & { readonly all?: boolean })

/** What isn't one is taken for an id, and refused as such. */
export function isSelection<Filter extends object>(
  which: string | Selection<Filter>,
): which is Selection<Filter> {
  try {
    return Array.isArray(which) || isRecordLike(which)
  } catch {
    // A revoked proxy.
    return false
  }
}

/** An empty filter is more likely a mistake than meant: all have to be asked for. */
export function selected<Table extends OptionTable>(
  which: unknown,
  table: Table,
  source: OptionSource,
): { readonly ids: readonly string[] } | { readonly ids: null; readonly filter: Checked<Table> } {
  if (Array.isArray(which)) return { ids: checkedValue(which, required(IDS), { source, option: "ids" }) }
  const { all, ...filter } = checked(which, { ...table, all: flag }, source)
  if (all !== true && Object.values(filter).every((value) => value === undefined)) {
    const text = `${source.subject}: name an id or a filter. An empty filter would mean every one there is; if that is meant, say { all: true }.`
    throw new BelfryError(source.code, text)
  }
  return { ids: null, filter: filter as Checked<Table> }
}

const IDS = list(LOOKUP, { max: 100_000 })

/** How some are taken at once. */
export interface Taking {
  /** How many at once: a store answers them together, and no other work waits for long. */
  readonly size: number
  /** For each, in their order: why it couldn't be done, or null. */
  take(ids: readonly string[]): Promise<readonly (BelfryError | null)[]>
}

/** What is done stays done, whatever becomes of the others. */
export async function doToMany(
  ids: AsyncIterable<string>,
  { size, take }: Taking,
  onProgress: (done: number) => void = () => undefined,
): Promise<ManyReport> {
  const done: string[] = []
  const refused: Refused[] = []
  const takeSome = async (some: readonly string[]) => {
    for (const [index, why] of (await take(some)).entries()) {
      const id = some[index]!
      if (why === null) done.push(id)
      else refused.push({ id, code: why.code, message: why.message })
    }
    onProgress(done.length + refused.length)
  }
  let some: string[] = []
  for await (const id of ids) {
    some.push(id)
    if (some.length < size) continue
    await takeSome(some)
    some = []
  }
  if (some.length > 0) await takeSome(some)
  return { ids: done, refused }
}

/** Null if it was done. What isn't about this one alone, such as a store that is away, is thrown. */
export async function refusalOf(step: Promise<unknown>): Promise<BelfryError | null> {
  try {
    await step
    return null
  } catch (error) {
    const isItsOwn = error instanceof BelfryError && (error.status === 404 || error.status === 409)
    if (isItsOwn) return error
    throw error
  }
}

export async function* idsOf(ids: readonly string[]): AsyncIterable<string> {
  yield* new Set(ids)
}

/** The first of a list. */
export async function* upTo<Item>(items: AsyncIterable<Item>, limit: number): AsyncIterable<Item> {
  let count = 0
  for await (const item of items) {
    yield item
    count += 1
    if (count === limit) return
  }
}
