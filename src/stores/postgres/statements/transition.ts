import { isFinished, type RunChange, type RunState } from "../../../core/run.ts"
import type { Hint, TransitionAnswer } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { isLockTimeout, isUniqueViolation } from "../faults.ts"
import { listsOf } from "../lists.ts"
import { jsonOf, type Row, type Text } from "../rows.ts"
import { RUN_CHANGE } from "../run-lists.ts"
import { named } from "../schema/engine-function.ts"

/** Those of the changes, the place of each in the call, and whether it is within somebody's transaction. */
const PARAMETERS = [...RUN_CHANGE, "places", "is_within"].map((_, index) => `$${index + 1}`).join(", ")

export const CHANGE_RUNS = `
  select f.is_awaited, f.changed
  from belfry.${named("change")}(${PARAMETERS}) as f`

export const NO_CHANGES = [...RUN_CHANGE.map(() => null), null, false]

const SELECT_STATES = `
  select r.id, r.state, r.attempt
  from belfry.runs as r
  where r.id = any ($1::text[])`

export interface Changed {
  readonly answers: readonly TransitionAnswer[]
  readonly hints: readonly Hint[]
}

/** All in one statement; those that take a run out of its end again alone, since their live key may be held by another. */
export async function changeRuns(
  runner: Runner,
  changes: readonly RunChange[],
  isWithin: boolean,
): Promise<Changed> {
  const answers: TransitionAnswer[] = []
  const hints = new Set<Hint>()
  for (const group of groupsOf(changes))
    answers.push(...(await changeGroup(runner, group, { hints, isWithin })))
  return { answers, hints: [...hints] }
}

/** In the order given: a group has a run once only, and one that is revived alone. */
function groupsOf(changes: readonly RunChange[]): readonly (readonly RunChange[])[] {
  const groups: RunChange[][] = []
  let ids = new Set<string>()
  for (const change of changes) {
    const isAlone = isRevival(change)
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

function isRevival(change: RunChange): boolean {
  return isFinished(change.ifState) && !isFinished(change.state)
}

interface About {
  readonly hints: Set<Hint>
  readonly isWithin: boolean
}

async function changeGroup(
  runner: Runner,
  changes: readonly RunChange[],
  about: About,
): Promise<readonly TransitionAnswer[]> {
  // In one order, as everyone takes rows: so that nobody waits for one who waits for them.
  const places = changes.map((_, place) => place)
  places.sort((a, b) => (changes[a]!.runId < changes[b]!.runId ? -1 : 1))
  const sorted = places.map((place) => changes[place]!)
  let row: Row
  try {
    row = (await runner.rows(CHANGE_RUNS, [...listsOf(RUN_CHANGE, sorted), places, about.isWithin]))[0]!
  } catch (error) {
    const { cause } = error as Error
    if (changes.length === 1 && isUniqueViolation(cause)) return [{ outcome: "held" }]
    if (changes.length === 1 || !isLockTimeout(cause)) throw error
    // A change of nothing waits for no row. If that fails too, somebody has locked the whole table.
    await runner.rows(CHANGE_RUNS, NO_CHANGES)
    return changeAlone(runner, changes, about)
  }
  const [isAwaited, changed] = row as readonly [Text, Text]
  const done = changed === null ? null : new Set(jsonOf<readonly string[]>(changed))
  const isDone = ({ runId }: RunChange) => done === null || done.has(runId)
  // One whose end lets another with its concurrency key begin; or a run that waits again.
  const { hints } = about
  if (isAwaited === "t") hints.add("runs")
  for (const change of changes) {
    if (change.state === "pending" && isDone(change)) hints.add("runs")
    if (change.state === "cancelled" && isDone(change)) hints.add("cancelled")
    if (isFinished(change.state) && isDone(change)) hints.add("ended")
  }
  const found = await statesOf(
    runner,
    changes.filter((change) => !isDone(change)),
  )
  return changes.map((change) =>
    isDone(change) ? DONE : (found.get(change.runId) ?? { outcome: "stale", state: null, attempt: 0 }),
  )
}

const DONE = { outcome: "done" } as const

/** A transaction keeps one of them: the others are stored, and the caller, who receivedHints of it, sends all of them again. */
async function changeAlone(
  runner: Runner,
  changes: readonly RunChange[],
  about: About,
): Promise<readonly TransitionAnswer[]> {
  const answers: TransitionAnswer[] = []
  const faults: unknown[] = []
  for (const change of changes) {
    try {
      answers.push(...(await changeGroup(runner, [change], about)))
    } catch (error) {
      if (!isLockTimeout((error as Error).cause)) throw error
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
  return answers
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
