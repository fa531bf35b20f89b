import { BelfryError } from "../../core/errors.ts"
import { requestOf } from "../../core/planning/new-run.ts"
import { runIdOf } from "../../core/planning/occurrence.ts"
import type { NewRun, RunState } from "../../core/run/run.ts"
import { type Schedule, timetableOf } from "../../core/schedule/schedule.ts"
import { nextInTimetable } from "../../core/schedule/timetable.ts"
import { formatInstant, type Instant } from "../../core/time/instant.ts"
import { hashText } from "../../core/values/hash.ts"
import type { Store } from "../../store/store.ts"
import { accepted } from "../../store/unstorable.ts"

/** Creates runs for past occurrences, in two steps: a plan to review, and its execution. */

export const BACKFILL_MAX = 1_000
const CHUNK = 100

export interface BackfillRange {
  /** Included. */
  readonly from: Date
  /** Included; not after now. */
  readonly until: Date
  /** `missing`: occurrences without a run. `failed`: occurrences whose run failed. `all`: every occurrence in the range. */
  readonly which: "missing" | "failed" | "all"
  /** The name of the backfill. An occurrence is run at most once under one name; another name runs it again. */
  readonly name: string
}

export interface BackfillPlan extends BackfillRange {
  /** A hash of the schedule's revision, the name and the occurrences. */
  readonly planId: string
  readonly scheduleId: string
  readonly occurrences: readonly Date[]
  /** The number of occurrences in the range that are left out, because they have a run or, for `failed`, no failed run. */
  readonly leftOut: number
}

export async function planBackfill(
  store: Store,
  schedule: Schedule,
  range: BackfillRange,
): Promise<BackfillPlan> {
  check(schedule, range, await store.now())
  const all = occurrencesIn(schedule, range)
  const { own, backfilled } = await runsOf(store, schedule, all, range)
  const occurrences = all.filter((at) => !backfilled.has(at) && isWanted(range.which, own.get(at)))
  const planId = hashText(
    `${schedule.id} ${schedule.revision} ${range.name} ${occurrences.join(" ")}`,
  ).toString(36)
  return {
    ...range,
    planId,
    scheduleId: schedule.id,
    occurrences: occurrences.map((at) => new Date(at)),
    leftOut: all.length - occurrences.length,
  }
}

/** Plans the backfill again. Throws if the new plan differs from the given one. */
export async function planAgain(
  store: Store,
  schedule: Schedule,
  planned: BackfillRange & { readonly planId: string; readonly occurrences: readonly unknown[] },
): Promise<BackfillPlan> {
  const { from, until, which, name } = planned
  const current = await planBackfill(store, schedule, { from, until, which, name })
  if (current.planId === planned.planId) return current
  throw new BelfryError(
    "BELFRY_BACKFILL_CHANGED",
    `The backfill of "${schedule.id}" was planned for ${planned.occurrences.length} occurrences, but now it has ${current.occurrences.length} or different ones.`,
  )
}

/**
 * Backfilled runs have a lower priority and a concurrency limit (default 1), so that they don't delay the runs that are due
 * now.
 */
export async function doBackfill(
  store: Store,
  schedule: Schedule,
  plan: BackfillPlan,
  options: { concurrency: number; by: string | null; onProgress?: (done: number, total: number) => void },
): Promise<readonly string[]> {
  const runs = plan.occurrences.map((scheduledFor) =>
    backfillRun(schedule, scheduledFor.getTime(), plan.name, options),
  )
  const created: string[] = []
  for (let start = 0; start < runs.length; start += CHUNK) {
    const answers = (await store.enqueue(runs.slice(start, start + CHUNK))).map(accepted)
    created.push(...answers.filter(({ outcome }) => outcome === "created").map(({ runId }) => runId))
    options.onProgress?.(Math.min(start + CHUNK, runs.length), runs.length)
  }
  return created
}

function backfillRun(
  schedule: Schedule,
  scheduledFor: Instant,
  name: string,
  { concurrency, by }: { concurrency: number; by: string | null },
): NewRun {
  return {
    ...requestOf(schedule),
    id: backfillIdOf(schedule.id, scheduledFor, name),
    scheduledFor,
    triggeredBy: "backfill",
    trigger: `backfill:${name}`,
    priority: schedule.priority - 1,
    liveKey: null,
    concurrencyKey: `backfill:${schedule.id}`,
    concurrencyLimit: concurrency,
    by,
    state: "pending",
    delayMs: 0,
    notBefore: null,
    message: null,
  }
}

/** An id of its own, so that the record of the occurrence itself stays unchanged. */
function backfillIdOf(scheduleId: string, scheduledFor: Instant, name: string): string {
  return `${runIdOf(scheduleId, scheduledFor)}~${name}`
}

function check(schedule: Schedule, range: BackfillRange, now: Instant): void {
  const [from, until] = [range.from.getTime(), range.until.getTime()]
  const problem =
    from > until
      ? `its start ${formatInstant(from)} is after its end ${formatInstant(until)}`
      : until > now
        ? `its end ${formatInstant(until)} is in the future`
        : null
  if (problem !== null) {
    throw new BelfryError(
      "BELFRY_BACKFILL_INVALID",
      `The backfill of "${schedule.id}" can't be planned: ${problem}.`,
    )
  }
}

function occurrencesIn(schedule: Schedule, range: BackfillRange): readonly Instant[] {
  const found: Instant[] = []
  const until = range.until.getTime()
  for (
    let at = nextInTimetable(timetableOf(schedule), range.from.getTime() - 1);
    at !== null && at <= until;
  ) {
    found.push(at)
    if (found.length > BACKFILL_MAX) {
      throw new BelfryError(
        "BELFRY_BACKFILL_INVALID",
        `The range has more than ${BACKFILL_MAX} occurrences of "${schedule.id}"; backfill it in parts (the first ends at ${formatInstant(at)}).`,
      )
    }
    at = nextInTimetable(timetableOf(schedule), at)
  }
  return found
}

function isWanted(which: BackfillRange["which"], state: RunState | undefined): boolean {
  if (which === "all") return true
  // A recorded skip is not a run.
  return which === "failed" ? state === "failed" : state === undefined || state === "skipped"
}

/** The state of each occurrence's own run, and the occurrences that already have a run of this backfill. */
async function runsOf(
  store: Store,
  schedule: Schedule,
  occurrences: readonly Instant[],
  { name }: BackfillRange,
): Promise<{ own: ReadonlyMap<Instant, RunState>; backfilled: ReadonlySet<Instant> }> {
  const own = new Map<Instant, RunState>()
  const backfilled = new Set<Instant>()
  for (let start = 0; start < occurrences.length; start += CHUNK) {
    const chunk = occurrences.slice(start, start + CHUNK)
    const ids = chunk.flatMap((at) => [runIdOf(schedule.id, at), backfillIdOf(schedule.id, at, name)])
    const runs = await store.findRuns({ ids }, { orderBy: "createdAt", after: null, limit: ids.length })
    for (const { id, scheduledFor, state } of runs) {
      if (id === runIdOf(schedule.id, scheduledFor!)) own.set(scheduledFor!, state)
      else backfilled.add(scheduledFor!)
    }
  }
  return { own, backfilled }
}
