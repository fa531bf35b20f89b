import { hashText } from "./hash.ts"
import { canonicalJson, type Json } from "./json.ts"
import type { Schedule, ScheduleDefinition } from "./schedule.ts"

/** A schedule as code declares it. */
export interface Declared {
  readonly id: string
  readonly definition: ScheduleDefinition
}

/** What has to happen so that the stored schedules of an owner are those its code declares. */
export interface ReconcileDiff {
  readonly created: readonly Declared[]
  readonly updated: readonly (Declared & { readonly stored: Schedule; readonly fields: readonly string[] })[]
  /** Same definition from a newer release: only the release is noted, the next occurrence doesn't move. */
  readonly noted: readonly (Declared & { readonly stored: Schedule })[]
  readonly unchanged: readonly string[]
  readonly pruned: readonly Schedule[]
  /** Left alone, each with the reason. */
  readonly refused: readonly { readonly id: string; readonly why: string }[]
}

/**
 * Compares what is declared with what was declared before, not with what is stored: an operator's change to a declared
 * schedule stays until the code itself changes. An older release changes nothing, so that a rolling deploy can't flap.
 */
export function reconcile(
  stored: readonly Schedule[],
  declared: readonly Declared[],
  { owner, release, prune }: { owner: string; release: number; prune: boolean },
): ReconcileDiff {
  const newest = Math.max(
    ...stored.filter((schedule) => schedule.owner === owner).map((schedule) => schedule.release),
  )
  if (newest > release) {
    const why = `release ${newest} of "${owner}" is already there; this is ${release}`
    return { ...EMPTY, refused: declared.map(({ id }) => ({ id, why })) }
  }
  const storedById = new Map(stored.map((schedule) => [schedule.id, schedule]))
  const declaredIds = new Set(declared.map(({ id }) => id))
  const diff = declared.map((entry) => compare(entry, storedById.get(entry.id), owner))
  const of = <Kind extends Compared["kind"]>(kind: Kind) =>
    diff.filter((entry): entry is Extract<Compared, { kind: Kind }> => entry.kind === kind)
  return {
    created: of("created"),
    updated: of("updated"),
    noted: of("noted"),
    unchanged: of("unchanged").map(({ id }) => id),
    refused: of("refused"),
    pruned: prune
      ? stored.filter((schedule) => schedule.owner === owner && !declaredIds.has(schedule.id))
      : [],
  }
}

const EMPTY: ReconcileDiff = { created: [], updated: [], noted: [], unchanged: [], pruned: [], refused: [] }

type Compared =
  | ({ kind: "created" } & Declared)
  | ({ kind: "updated"; stored: Schedule; fields: readonly string[] } & Declared)
  | ({ kind: "noted"; stored: Schedule } & Declared)
  | { kind: "unchanged"; id: string }
  | { kind: "refused"; id: string; why: string }

function compare(declared: Declared, stored: Schedule | undefined, owner: string): Compared {
  const { id, definition } = declared
  if (stored === undefined) return { kind: "created", ...declared }
  if (stored.owner !== owner) {
    const whose = stored.owner === null ? "was made by hand" : `belongs to "${stored.owner}"`
    const remedy = stored.owner === null ? "" : ", or declare it for that owner"
    const why = `a schedule of this id ${whose}; delete that one, and the next start makes it anew${remedy}`
    return { kind: "refused", id, why }
  }
  if (stored.declaredAs !== fingerprint(definition)) {
    return { kind: "updated", ...declared, stored, fields: changedFields(stored, definition) }
  }
  return stored.release < definition.release
    ? { kind: "noted", ...declared, stored }
    : { kind: "unchanged", id }
}

/** The same for the same meaning; who released it isn't part of the meaning. */
export function fingerprint(definition: ScheduleDefinition): string {
  const text = canonicalJson({ ...definition, release: 0 } as unknown as Json)
  // The mark goes first: two texts with the same hash keep the same hash whatever follows.
  return [text, `\n${text}`].map((part) => hashText(part).toString(36)).join("-")
}

/** Whether an operator changed what code declared. */
export function isOverridden(schedule: Schedule): boolean {
  return schedule.declaredAs !== null && schedule.declaredAs !== fingerprint(definitionOf(schedule))
}

export function changedFields(stored: ScheduleDefinition, definition: ScheduleDefinition): readonly string[] {
  const keys = Object.keys(definition) as (keyof ScheduleDefinition)[]
  const text = (value: unknown) => canonicalJson(value as Json)
  return keys.filter((key) => key !== "release" && text(stored[key]) !== text(definition[key]))
}

/** The definition part of a schedule, by itself. */
export function definitionOf(schedule: ScheduleDefinition): ScheduleDefinition {
  const { task, payload, triggers, timezone, dst, priority, jitterMs, spacingMs, startsAt, endsAt, maxRuns } =
    schedule
  const { removeWhenFinished, catchUp, overlap, maxConcurrentRuns, dependsOn, retry, timeoutMs, enabled } =
    schedule
  const { tags, description, owner, release } = schedule
  return {
    ...{ task, payload, triggers, timezone, dst, priority, jitterMs, spacingMs, startsAt, endsAt, maxRuns },
    ...{ removeWhenFinished, catchUp, overlap, maxConcurrentRuns, dependsOn, retry, timeoutMs, enabled },
    ...{ tags, description, owner, release },
  }
}
