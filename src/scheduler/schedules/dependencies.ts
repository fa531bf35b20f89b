import { refusal } from "../../core/checked.ts"
import {
  cycleInWords,
  cyclesIn,
  cycleThrough,
  type Dependencies,
  idsDependedOn,
} from "../../core/dependency-cycles.ts"
import type { BelfryError } from "../../core/errors.ts"
import { scheduleSource } from "../../core/policies.ts"
import type { Declared } from "../../core/reconcile.ts"
import type { ScheduleDefinition } from "../../core/schedule.ts"
import type { Store } from "../../store/store.ts"
import { schedulesOf } from "./read-schedules.ts"

/** What a definition is compared with: the one that is stored, if it is an update. */
type Depending = Pick<ScheduleDefinition, "dependsOn">

/**
 * A schedule that depends on one that isn't there would never fire, nor would one that depends on itself by way of others: each
 * occurrence would be skipped. Only what is new is refused, so that a schedule with such a problem can still be changed.
 */
export async function checkDependencies(
  store: Store,
  id: string,
  definition: Depending,
  { stored, declared }: { stored: Depending | null; declared: Dependencies },
): Promise<void> {
  const before = new Set(stored === null ? [] : idsDependedOn(stored))
  const added = idsDependedOn(definition).filter((each) => !before.has(each))
  const found = await dependenciesFrom(store, new Map([[id, added]]), declared)
  const missing = added.find((each) => !found.has(each))
  if (missing !== undefined) {
    const problem = `names the schedule "${missing}", which doesn't exist; create that one first`
    throw refusal({ source: scheduleSource(id), option: "dependsOn" }, problem, { value: missing })
  }
  const cycle = cycleThrough(id, found)
  if (cycle !== null) throw cycleRefusal(cycle)
}

/** Among the schedules of a program, whatever their order. */
export function checkDeclaredDependencies(declared: readonly Declared[]): void {
  const [cycle] = cyclesIn(dependenciesOf(declared))
  if (cycle !== undefined) throw cycleRefusal(cycle)
}

/** Which of these would wait for themselves by way of stored schedules of others, and how. */
export async function cyclesWithStored(
  store: Store,
  declared: readonly Declared[],
): Promise<ReadonlyMap<string, string>> {
  const cycles = cyclesIn(await dependenciesFrom(store, dependenciesOf(declared)))
  return new Map(cycles.flatMap((cycle) => cycle.map((id) => [id, cycleProblem(cycle)] as const)))
}

export function dependenciesOf(declared: readonly Declared[]): Dependencies {
  return new Map(declared.map(({ id, definition }) => [id, idsDependedOn(definition)]))
}

export function cycleRefusal(cycle: readonly string[]): BelfryError {
  const option = { source: scheduleSource(cycle[0]!), option: "dependsOn" }
  return refusal(option, cycleProblem(cycle), { value: cycleInWords(cycle) })
}

function cycleProblem(cycle: readonly string[]): string {
  return `makes a cycle: ${cycleInWords(cycle)}. Schedules that wait for one another never fire`
}

/** Beyond this many a cycle isn't noticed here; `belfry doctor` looks at all. */
const LOOKED_AT_MAX = 10_000

/**
 * What these schedules depend on, and what those depend on in turn, as far as it is stored. `unstored` are the local ones, and
 * those that are declared and not stored yet. One that doesn't exist has no entry.
 */
export async function dependenciesFrom(
  store: Store,
  known: Dependencies,
  unstored: Dependencies = new Map(),
): Promise<Dependencies> {
  const found = new Map(known)
  const asked = new Set(found.keys())
  let named = [...found.values()].flat()
  while (found.size - known.size < LOOKED_AT_MAX) {
    const wanted = [...new Set(named)].filter((id) => !asked.has(id))
    if (wanted.length === 0) break
    for (const id of wanted) asked.add(id)
    await readInto(found, store, wanted)
    for (const id of wanted) {
      const needed = unstored.get(id)
      if (!found.has(id) && needed !== undefined) found.set(id, needed)
    }
    named = wanted.flatMap((id) => found.get(id) ?? [])
  }
  return found
}

async function readInto(
  found: Map<string, readonly string[]>,
  store: Store,
  ids: readonly string[],
): Promise<void> {
  for (const [id, schedule] of await schedulesOf(store, ids)) found.set(id, idsDependedOn(schedule))
}

/** Which of these ids no stored schedule has. */
export async function missingAmong(store: Store, ids: ReadonlySet<string>): Promise<readonly string[]> {
  const found = new Map<string, readonly string[]>()
  await readInto(found, store, [...ids])
  return [...ids].filter((id) => !found.has(id))
}
