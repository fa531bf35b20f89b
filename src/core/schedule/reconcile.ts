import { hashText } from "../values/hash.ts"
import { canonicalJson, type Json } from "../values/json.ts"
import type { Schedule, ScheduleDefinition } from "./schedule.ts"

/** A schedule declared in code. */
export interface Declared {
  readonly id: string
  readonly definition: ScheduleDefinition
}

/** The changes that make the stored schedules of an owner equal to those that its code declares. */
export interface ReconcileDiff {
  readonly created: readonly Declared[]
  readonly updated: readonly (Declared & { readonly stored: Schedule; readonly fields: readonly string[] })[]
  /** The definition is unchanged but the release is newer. Only the release is stored; the next occurrence doesn't move. */
  readonly releaseRaised: readonly (Declared & { readonly stored: Schedule })[]
  readonly unchanged: readonly string[]
  readonly pruned: readonly Schedule[]
  /** Schedules that are not changed, each with the reason. */
  readonly refused: readonly { readonly id: string; readonly why: string }[]
}

/**
 * Compares each declaration with the previous declaration, not with the stored definition: an operator's change stays until
 * the code changes. An older release changes nothing, so that a rolling deploy doesn't switch back and forth.
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
    const why = `release ${newest} of "${owner}" is already stored; this is release ${release}`
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
    releaseRaised: of("releaseRaised"),
    unchanged: of("unchanged").map(({ id }) => id),
    refused: of("refused"),
    pruned: prune
      ? stored.filter((schedule) => schedule.owner === owner && !declaredIds.has(schedule.id))
      : [],
  }
}

const EMPTY: ReconcileDiff = {
  created: [],
  updated: [],
  releaseRaised: [],
  unchanged: [],
  pruned: [],
  refused: [],
}

type Compared =
  | ({ kind: "created" } & Declared)
  | ({ kind: "updated"; stored: Schedule; fields: readonly string[] } & Declared)
  | ({ kind: "releaseRaised"; stored: Schedule } & Declared)
  | { kind: "unchanged"; id: string }
  | { kind: "refused"; id: string; why: string }

function compare(declared: Declared, stored: Schedule | undefined, owner: string): Compared {
  const { id, definition } = declared
  if (stored === undefined) return { kind: "created", ...declared }
  if (stored.owner !== owner) {
    const source = stored.owner === null ? "was made by hand" : `belongs to "${stored.owner}"`
    const remedy = stored.owner === null ? "" : ", or declare it for that owner"
    const why = `a schedule with this id ${source}; delete it, and the next start creates it again${remedy}`
    return { kind: "refused", id, why }
  }
  if (stored.declaredAs !== fingerprint(definition)) {
    return { kind: "updated", ...declared, stored, fields: changedFields(stored, definition) }
  }
  return stored.release < definition.release
    ? { kind: "releaseRaised", ...declared, stored }
    : { kind: "unchanged", id }
}

/** Equal definitions have equal fingerprints. The release is not part of it. */
export function fingerprint(definition: ScheduleDefinition): string {
  const text = canonicalJson({ ...definition, release: 0 } as unknown as Json)
  // The newline goes first: two texts with the same hash would also have the same hash with the same ending.
  return [text, `\n${text}`].map((part) => hashText(part).toString(36)).join("-")
}

/** Whether an operator changed a schedule that code declares. */
export function isOverridden(schedule: Schedule): boolean {
  return schedule.declaredAs !== null && schedule.declaredAs !== fingerprint(definitionOf(schedule))
}

export function changedFields(stored: ScheduleDefinition, definition: ScheduleDefinition): readonly string[] {
  const keys = Object.keys(definition) as (keyof ScheduleDefinition)[]
  const text = (value: unknown) => canonicalJson(value as Json)
  return keys.filter((key) => key !== "release" && text(stored[key]) !== text(definition[key]))
}

/** The definition fields of a schedule, without the others. */
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
