import { BelfryError, type ErrorCode } from "../core/errors.ts"
import {
  type Checked,
  checked,
  checkedValue,
  isRecordLike,
  type OptionSource,
  type OptionTable,
} from "../core/options/checked.ts"
import { LOOKUP } from "../core/options/limits.ts"
import { callback, flag, integer, list, required } from "../core/options/option-types.ts"

/** Options of an operation on many records. */
export interface ManyOptions {
  /** Reports what would happen and changes nothing. */
  readonly dryRun?: boolean
  /** At most this many records are changed. Default: all. */
  readonly limit?: number
  readonly onProgress?: (done: number) => void
}

/** The result of an operation on many records. */
export interface ManyReport {
  /** The records that were changed. */
  readonly ids: readonly string[]
  /** The records for which the operation was refused, because they changed or don't exist. The other records are not affected. */
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

/** The records to change: a list of ids, or a filter. */
export type Selection<Filter> = readonly string[] | (Filter & { readonly all?: boolean })

/** False for any other value. The caller then treats it as an id, and the check of ids refuses it. */
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

/** Refuses an empty filter, which is probably a mistake. `{ all: true }` selects every record. */
export function selected<Table extends OptionTable>(
  which: unknown,
  table: Table,
  source: OptionSource,
): { readonly ids: readonly string[] } | { readonly ids: null; readonly filter: Checked<Table> } {
  if (Array.isArray(which)) return { ids: checkedValue(which, required(IDS), { source, option: "ids" }) }
  const { all, ...filter } = checked(which, { ...table, all: flag }, source)
  if (all !== true && Object.values(filter).every((value) => value === undefined)) {
    const text = `${source.subject}: give ids or a filter. An empty filter would select every record; to select all, pass { all: true }.`
    throw new BelfryError(source.code, text)
  }
  return { ids: null, filter: filter as Checked<Table> }
}

const IDS = list(LOOKUP, { max: 100_000 })

/** An operation on a batch of records at a time. */
export interface BatchOperation {
  /** The size of a batch. Small enough that other work in the store doesn't wait long. */
  readonly size: number
  /** Returns one result per id, in order: null, or why the operation was refused. */
  take(ids: readonly string[]): Promise<readonly (BelfryError | null)[]>
}

/** Makes the operation batch by batch. There is no transaction around them: earlier batches stay done if a later one fails. */
export async function takeInBatches(
  ids: AsyncIterable<string>,
  { size, take }: BatchOperation,
  onProgress: (done: number) => void = () => undefined,
): Promise<ManyReport> {
  const done: string[] = []
  const refused: Refused[] = []
  const takeBatch = async (batch: readonly string[]) => {
    for (const [index, why] of (await take(batch)).entries()) {
      const id = batch[index]!
      if (why === null) done.push(id)
      else refused.push({ id, code: why.code, message: why.message })
    }
    onProgress(done.length + refused.length)
  }
  let batch: string[] = []
  for await (const id of ids) {
    batch.push(id)
    if (batch.length < size) continue
    await takeBatch(batch)
    batch = []
  }
  if (batch.length > 0) await takeBatch(batch)
  return { ids: done, refused }
}

/**
 * The error by which an operation was refused. Null: the operation was made. Throws every other error: by default those that
 * don't concern this record alone, such as an unavailable store.
 */
export async function refusalErrorOf(
  operation: Promise<unknown>,
  isRefusal: (error: BelfryError) => boolean = isOfOneRecord,
): Promise<BelfryError | null> {
  try {
    await operation
    return null
  } catch (error) {
    if (error instanceof BelfryError && isRefusal(error)) return error
    throw error
  }
}

/** Not found, in the wrong state, changed meanwhile, or can't be stored. */
function isOfOneRecord({ status, code }: BelfryError): boolean {
  return status === 404 || status === 409 || status === 412 || code === "BELFRY_STORE_REFUSED"
}

export async function* distinctIds(ids: readonly string[]): AsyncIterable<string> {
  yield* new Set(ids)
}

/** The first `limit` items of a list. */
export async function* firstOf<Item>(items: AsyncIterable<Item>, limit: number): AsyncIterable<Item> {
  let count = 0
  for await (const item of items) {
    yield item
    count += 1
    if (count === limit) return
  }
}
