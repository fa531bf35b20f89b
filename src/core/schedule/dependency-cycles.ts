/** For each schedule id, the ids of the schedules that it depends on. */
export type Dependencies = ReadonlyMap<string, readonly string[]>

/** The schedule ids in a definition's `dependsOn`. */
export function idsDependedOn(definition: {
  readonly dependsOn: readonly { readonly scheduleId: string }[]
}): readonly string[] {
  return definition.dependsOn.map(({ scheduleId }) => scheduleId)
}

/**
 * Cycles of schedules that wait for one another. None of them can fire before another has succeeded, so none ever fires. Each
 * cycle is a list of ids that begins and ends with the same id. Every schedule on a cycle is in at least one list.
 */
export function cyclesIn(dependencies: Dependencies): readonly (readonly string[])[] {
  const remaining = withoutAcyclic(dependencies)
  const cycles: (readonly string[])[] = []
  const reported = new Set<string>()
  for (const id of remaining.keys()) {
    const cycle = reported.has(id) ? null : cycleThrough(id, remaining)
    if (cycle === null) continue
    cycles.push(cycle)
    for (const each of cycle) reported.add(each)
  }
  return cycles
}

/** The shortest path from a schedule back to itself, both ends included. Null if there is none. */
export function cycleThrough(id: string, dependencies: Dependencies): readonly string[] | null {
  const cameFrom = new Map<string, string>()
  const queue = [id]
  for (const current of queue) {
    for (const next of dependencies.get(current) ?? []) {
      if (next === id) return pathTo(current, id, cameFrom)
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

function pathTo(last: string, first: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const back = [first]
  for (let current = last; current !== first; current = cameFrom.get(current)!) back.push(current)
  return [...back, first].reverse()
}

/**
 * Repeatedly removes the schedules that depend on no remaining schedule. Without a cycle nothing remains. Each dependency is
 * visited once.
 */
function withoutAcyclic(dependencies: Dependencies): Dependencies {
  const remaining = new Map(dependencies)
  const waiting = new Map<string, number>()
  const dependents = new Map<string, string[]>([...dependencies.keys()].map((id) => [id, []]))
  const removable: string[] = []
  for (const [id, needed] of dependencies) {
    const known = new Set(needed.filter((each) => dependencies.has(each)))
    waiting.set(id, known.size)
    if (known.size === 0) removable.push(id)
    for (const each of known) dependents.get(each)!.push(id)
  }
  for (const id of removable) {
    remaining.delete(id)
    for (const dependent of dependents.get(id)!) {
      const count = waiting.get(dependent)! - 1
      waiting.set(dependent, count)
      if (count === 0) removable.push(dependent)
    }
  }
  return remaining
}

/**
 * The ids in the given order, except that an id comes after the ids it depends on. There must be no cycle. A list of open ids and no
 * recursion: a chain of 100,000 schedules would overflow the stack.
 */
export function inDependencyOrder(dependencies: Dependencies): readonly string[] {
  const remaining = new Set(dependencies.keys())
  const ordered = new Set<string>()
  const open = [...remaining].reverse()
  while (open.length > 0) {
    const id = open.at(-1)!
    remaining.delete(id)
    const needed = (dependencies.get(id) ?? []).filter((each) => remaining.has(each))
    if (needed.length > 0) open.push(...needed)
    else ordered.add(open.pop()!)
  }
  return [...ordered]
}
