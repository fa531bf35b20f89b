import type { BelfryError } from "../../core/errors.ts"
import { refusal } from "../../core/options/checked.ts"
import { scheduleSource } from "../../core/options/policies.ts"
import {
  cycleInWords,
  cyclesIn,
  cycleThrough,
  type Dependencies,
  idsDependedOn,
} from "../../core/schedule/dependency-cycles.ts"
import type { Declared } from "../../core/schedule/reconcile.ts"
import type { ScheduleDefinition } from "../../core/schedule/schedule.ts"
import type { Store } from "../../store/store.ts"
import { schedulesOf } from "./read-schedules.ts"

/** The part of a definition that is checked here. */
type Depending = Pick<ScheduleDefinition, "dependsOn">

/**
 * Refuses dependencies on missing schedules, and cycles: every occurrence of such a schedule would be skipped. Only new
 * dependencies are refused, so that a schedule that already has this problem can still be changed.
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

/** Refuses cycles among the declared schedules of one program. */
export function checkDeclaredDependencies(declared: readonly Declared[]): void {
  const [cycle] = cyclesIn(dependenciesOf(declared))
  if (cycle !== undefined) throw cycleRefusal(cycle)
}

/** The declared schedules that would be part of a cycle through stored schedules, each with a description of its cycle. */
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
  return `makes a cycle: ${cycleInWords(cycle)}. Schedules that depend on each other never fire`
}

/** Reading stops after this many schedules, and a longer cycle is not found here. `belfry doctor` checks all schedules. */
const READ_MAX = 10_000

/**
 * The direct and indirect dependencies of the `known` schedules, read from the store. `unstored` holds local schedules, and
 * declared schedules that are not stored yet. A schedule that doesn't exist has no entry.
 */
export async function dependenciesFrom(
  store: Store,
  known: Dependencies,
  unstored: Dependencies = new Map(),
): Promise<Dependencies> {
  const found = new Map(known)
  const read = new Set(found.keys())
  let named = [...found.values()].flat()
  while (found.size - known.size < READ_MAX) {
    const unread = [...new Set(named)].filter((id) => !read.has(id))
    if (unread.length === 0) break
    for (const id of unread) read.add(id)
    await readInto(found, store, unread)
    for (const id of unread) {
      const needed = unstored.get(id)
      if (!found.has(id) && needed !== undefined) found.set(id, needed)
    }
    named = unread.flatMap((id) => found.get(id) ?? [])
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

/** The ids that no stored schedule has. */
export async function missingAmong(store: Store, ids: ReadonlySet<string>): Promise<readonly string[]> {
  const found = new Map<string, readonly string[]>()
  await readInto(found, store, [...ids])
  return [...ids].filter((id) => !found.has(id))
}
