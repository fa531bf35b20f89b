import { BelfryError } from "./errors.ts"
import { formatInstant, type Instant } from "./instant.ts"
import { skipRecordOf } from "./new-run.ts"
import { type FireFacts, factsAfter, followedBy, type Plan, planOf, progressOf } from "./plan.ts"
import { changedFields, definitionOf } from "./reconcile.ts"
import { isTimedOtherwise, redefine } from "./redefine.ts"
import type { Edit, Schedule } from "./schedule.ts"
import { planOnHold, settle } from "./settling.ts"
import { beginPause, planAnew, reschedule, resume } from "./steer.ts"

/**
 * Changes that were written without our checks, where a store lets others write (SQL). Each means what the same step means when it
 * is asked of Belfry, at the instant it was written: whoever writes a row can't plan, so the next plan does.
 */

/** What a schedule was, or is, after an edit. */
type State = Edit["was"]

type EditedSchedule = Schedule & { readonly edits: readonly [Edit, ...Edit[]] }

export function isEdited(schedule: Schedule): schedule is EditedSchedule {
  return schedule.edits !== undefined && schedule.edits.length > 0
}

/** All edits in their order, as one plan. What came due after the last of them is left for the next plan. */
export function planEdits(schedule: EditedSchedule, facts: FireFacts): Plan {
  const { edits, ...current } = schedule
  let plan = planOf(dueAsBefore({ ...current, ...edits[0].was }), {})
  edits.forEach((edit, index) => {
    const known = factsAfter(facts, plan)
    const next: State = edits[index + 1]?.was ?? current
    plan = followedBy({ ...current, ...edit.was }, plan, (before) => planEdit(before, edit, next, known))
  })
  return plan
}

/** The first edit set `nextRunAt` to its own instant. This restores when the schedule was due before. */
function dueAsBefore(schedule: Schedule): Schedule {
  const { coveredUntil, lastError } = schedule
  if (coveredUntil === null || lastError !== null) return schedule
  try {
    const { nextRunAt } = planAnew(schedule, coveredUntil)
    return { ...schedule, nextRunAt }
  } catch {
    // It couldn't be planned before the edits; they may mend it.
    return schedule
  }
}

function planEdit(before: Schedule, edit: Edit, next: State, facts: FireFacts): Plan {
  const definition = definitionOf(next)
  const after = (progress: Schedule) => ({ ...progress, ...definition })
  const defined = planDefinition(before, edit, next, facts)
  const isPauseEdited = JSON.stringify(edit.was.paused) !== JSON.stringify(next.paused)
  const paused = isPauseEdited
    ? followedBy(before, defined, (rest) => planPause(after(rest), edit.at, next, facts))
    : defined
  if (edit.nextRunAt === undefined) return paused
  return followedBy(before, paused, (rest) => planAsked(after(rest), edit, next, factsAfter(facts, paused)))
}

/** What was owed by the old definition is settled, then the new one holds. */
function planDefinition(before: Schedule, { at }: Edit, next: State, facts: FireFacts): Plan {
  const [old, definition] = [definitionOf(before), definitionOf(next)]
  if (changedFields(old, definition).length === 0) return planOf(before, {})
  const canWait = !isTimedOtherwise(old, definition)
  const settled = settle(before, facts, at, { canWait }) ?? planOf(before, {})
  return followedBy(before, settled, (rest) => {
    try {
      return planOf(rest, progressOf(redefine(rest, definition, at)))
    } catch (error) {
      // What was owed until then is still owed; it goes on when the definition is mended.
      return planOnHold({ ...rest, coveredUntil: Math.max(at, rest.coveredUntil ?? at) }, error)
    }
  })
}

function planPause(schedule: Schedule, at: Instant, { paused }: State, facts: FireFacts): Plan {
  if (paused !== null) return beginPause(schedule, paused, facts, at)
  return resume(schedule, facts, at) ?? planOf(schedule, {})
}

function planAsked(schedule: Schedule, edit: Edit, next: State, facts: FireFacts): Plan {
  if (schedule.lastError !== null) return planOf(schedule, {})
  const { at, by, was } = edit
  const asked = edit.nextRunAt!
  if (asked === null) {
    const settled = settle(schedule, facts, at, { canWait: false }) ?? planOf(schedule, {})
    return followedBy(schedule, settled, (rest) =>
      planOf(rest, progressOf(planAnew({ ...rest, overrides: [] }, at))),
    )
  }
  // Together with a new timetable, or with enabling, it says when that begins.
  if (isTimedOtherwise(definitionOf(was), definitionOf(next)))
    return beginAt(schedule, edit, Math.max(asked, at))
  // A time that has passed means at once; one occurrence of this very instant may be fired ahead already.
  const to = asked > at ? asked : Math.max(at, (schedule.coveredUntil ?? at) + 1)
  try {
    return reschedule(schedule, to, { reason: null, by }, facts, at)
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    const why = { reason: "operator", message: error.message } as const
    return planOf(schedule, {}, { runs: [skipRecordOf(schedule, { from: at, until: at, count: 1 }, why)] })
  }
}

/** Its first occurrence is at `asked`, whatever the timetable says, or right after what is settled; then on from there. */
function beginAt(schedule: Schedule, { at, by }: Edit, asked: Instant): Plan {
  const settled = schedule.coveredUntil ?? at
  // What is settled stays so: each occurrence has one record.
  const first = asked >= settled ? asked : settled + 1
  const reason = `Begins at ${formatInstant(first)}`
  const added = { scheduledFor: first, dueAt: first, reason, by, isNext: true }
  const isWaiting = schedule.paused === null && schedule.enabled
  return planOf(schedule, {
    coveredUntil: Math.min(settled, first - 1),
    overrides: [...schedule.overrides.filter(({ scheduledFor }) => scheduledFor > first), added],
    nextRunAt: isWaiting ? first : schedule.nextRunAt,
    finishedAt: null,
  })
}
