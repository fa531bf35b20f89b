/** The ids of the schedules that each one depends on, by its id. */
export type Dependencies = ReadonlyMap<string, readonly string[]>

/** What `dependsOn` of a definition says, by ids alone. */
export function idsDependedOn(definition: {
  readonly dependsOn: readonly { readonly scheduleId: string }[]
}): readonly string[] {
  return definition.dependsOn.map(({ scheduleId }) => scheduleId)
}

/**
 * Schedules that wait for one another: none of them fires before another has succeeded, so none ever does. Each cycle is a list
 * of ids that begins and ends with the same one; each schedule that is part of a cycle is in at least one.
 */
export function cyclesIn(dependencies: Dependencies): readonly (readonly string[])[] {
  const left = withoutSettled(dependencies)
  const cycles: (readonly string[])[] = []
  const told = new Set<string>()
  for (const id of left.keys()) {
    const cycle = told.has(id) ? null : cycleThrough(id, left)
    if (cycle === null) continue
    cycles.push(cycle)
    for (const each of cycle) told.add(each)
  }
  return cycles
}

/** The shortest way from a schedule back to itself, both ends included; null if there is none. */
export function cycleThrough(id: string, dependencies: Dependencies): readonly string[] | null {
  const cameFrom = new Map<string, string>()
  const queue = [id]
  for (const current of queue) {
    for (const next of dependencies.get(current) ?? []) {
      if (next === id) return wayTo(current, id, cameFrom)
      if (cameFrom.has(next)) continue
      cameFrom.set(next, current)
      queue.push(next)
    }
  }
  return null
}

/** For people: `a → b → a`. */
export function cycleInWords(cycle: readonly string[]): string {
  if (cycle.length <= SHOWN_MAX) return cycle.join(" → ")
  return [...cycle.slice(0, SHOWN_MAX - 1), "…", cycle.at(-1)].join(" → ")
}

const SHOWN_MAX = 8

function wayTo(last: string, first: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const back = [first]
  for (let current = last; current !== first; current = cameFrom.get(current)!) back.push(current)
  return [...back, first].reverse()
}

/**
 * Takes away, again and again, the schedules that depend on nothing that is left. Without a cycle nothing is left, at a cost of
 * one look at each dependency.
 */
function withoutSettled(dependencies: Dependencies): Dependencies {
  const left = new Map(dependencies)
  const waiting = new Map<string, number>()
  const dependents = new Map<string, string[]>([...dependencies.keys()].map((id) => [id, []]))
  const settled: string[] = []
  for (const [id, needed] of dependencies) {
    const known = new Set(needed.filter((each) => dependencies.has(each)))
    waiting.set(id, known.size)
    if (known.size === 0) settled.push(id)
    for (const each of known) dependents.get(each)!.push(id)
  }
  for (const id of settled) {
    left.delete(id)
    for (const dependent of dependents.get(id)!) {
      const count = waiting.get(dependent)! - 1
      waiting.set(dependent, count)
      if (count === 0) settled.push(dependent)
    }
  }
  return left
}
