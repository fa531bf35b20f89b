import { isFinished, type RunChange, type RunState } from "../../../core/run/run.ts"
import type { TransitionAnswer } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { isLockTimeout, isUniqueViolation } from "../faults.ts"
import { listsOf } from "../lists.ts"
import { jsonOf, type Row, type Text } from "../rows.ts"
import { RUN_CHANGE } from "../run-lists.ts"
import { versionedName } from "../schema/engine-function.ts"

/** The changes, the position of each in the call, and whether the call is inside a caller's transaction. */
const PARAMETERS = [...RUN_CHANGE, "places", "is_in_transaction"]
  .map((_, index) => `$${index + 1}`)
  .join(", ")

export const CHANGE_RUNS = `
  select f.is_awaited, f.changed
  from belfry.${versionedName("change")}(${PARAMETERS}) as f`

export const NO_CHANGES = [...RUN_CHANGE.map(() => null), null, false]

const SELECT_STATES = `
  select r.id, r.state, r.attempt
  from belfry.runs as r
  where r.id = any ($1::text[])`

export interface Changed {
  readonly answers: readonly TransitionAnswer[]
  /** A run that ended has a concurrency limit, so another run with its key may begin. */
  readonly mayFreeRuns: boolean
}

/** One statement for a group of `groupsOf`. */
export async function changeRuns(
  runner: Runner,
  changes: readonly RunChange[],
  isInTransaction: boolean,
): Promise<Changed> {
  // Rows are locked in the order of their ids, so that two calls cannot deadlock.
  const places = changes.map((_, place) => place)
  places.sort((a, b) => (changes[a]!.runId < changes[b]!.runId ? -1 : 1))
  const sorted = places.map((place) => changes[place]!)
  let row: Row
  try {
    row = (await runner.rows(CHANGE_RUNS, [...listsOf(RUN_CHANGE, sorted), places, isInTransaction]))[0]!
  } catch (error) {
    const { cause } = error as Error
    if (changes.length === 1 && isUniqueViolation(cause))
      return { answers: [{ outcome: "held" }], mayFreeRuns: false }
    if (changes.length === 1 || !isLockTimeout(cause)) throw error
    // A call without changes locks no row. If it fails too, another session has locked the whole table.
    await runner.rows(CHANGE_RUNS, NO_CHANGES)
    return changeAlone(runner, changes, isInTransaction)
  }
  const [isAwaited, changed] = row as readonly [Text, Text]
  const done = changed === null ? null : new Set(jsonOf<readonly string[]>(changed))
  const isDone = ({ runId }: RunChange) => done === null || done.has(runId)
  const found = await statesOf(
    runner,
    changes.filter((change) => !isDone(change)),
  )
  const answers = changes.map(
    (change): TransitionAnswer =>
      isDone(change) ? DONE : (found.get(change.runId) ?? { outcome: "stale", state: null, attempt: 0 }),
  )
  return { answers, mayFreeRuns: isAwaited === "t" }
}

const DONE = { outcome: "done" } as const

/**
 * Another transaction locks one of these runs. Each change is sent alone, so the others are stored. The call then throws, and
 * the caller sends all changes again.
 */
async function changeAlone(
  runner: Runner,
  changes: readonly RunChange[],
  isInTransaction: boolean,
): Promise<Changed> {
  const answers: TransitionAnswer[] = []
  let mayFreeRuns = false
  const faults: unknown[] = []
  for (const change of changes) {
    try {
      const changed = await changeRuns(runner, [change], isInTransaction)
      answers.push(...changed.answers)
      mayFreeRuns ||= changed.mayFreeRuns
    } catch (error) {
      if (!isLockTimeout((error as Error).cause)) throw error
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
  return { answers, mayFreeRuns }
}

async function statesOf(
  runner: Runner,
  changes: readonly RunChange[],
): Promise<ReadonlyMap<string, TransitionAnswer>> {
  if (changes.length === 0) return new Map()
  const rows = await runner.rows(SELECT_STATES, [changes.map((change) => change.runId)])
  return new Map(
    rows.map(([id, state, attempt]) => [
      id!,
      { outcome: "stale", state: state as RunState, attempt: Number(attempt) },
    ]),
  )
}

/**
 * The groups of changes that one statement can make, in the given order. A group contains each run once. A change that reopens a
 * finished run is a group of its own, because another run may hold its live key.
 */
export function groupsOf(changes: readonly RunChange[]): readonly (readonly RunChange[])[] {
  const groups: RunChange[][] = []
  let ids = new Set<string>()
  for (const change of changes) {
    const isAlone = isReopened(change)
    if (groups.length === 0 || isAlone || ids.has(change.runId)) {
      groups.push([])
      ids = new Set()
    }
    groups.at(-1)!.push(change)
    ids.add(change.runId)
    if (isAlone) groups.push([])
  }
  return groups.filter((group) => group.length > 0)
}

function isReopened(change: RunChange): boolean {
  return isFinished(change.ifState) && !isFinished(change.state)
}
