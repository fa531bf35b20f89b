import { BelfryError } from "../../core/errors.ts"
import type { Checked, OptionType } from "../../core/options/checked.ts"
import { flag, instant, payload, remark } from "../../core/options/option-types.ts"
import type { PriorityOption, When } from "../../core/options/options.ts"
import { OVERLAP_POLICY, PRIORITY } from "../../core/options/policies.ts"
import { requestOf } from "../../core/planning/new-run.ts"
import { planOf } from "../../core/planning/plan.ts"
import { isQueueFull } from "../../core/planning/plan-owed.ts"
import { skip } from "../../core/planning/steer.ts"
import { cancel, type NewRun, REPLACED_BY_HAND, UNFINISHED } from "../../core/run/run.ts"
import type { RunSummary } from "../../core/run/run-summary.ts"
import type { Overlap, Schedule } from "../../core/schedule/schedule.ts"
import { formatInstant, type Instant } from "../../core/time/instant.ts"
import { type Json, toPayload } from "../../core/values/json.ts"
import { cancelAll } from "../../engine/cancelling.ts"
import { readFacts } from "../../engine/facts.ts"
import type { RunPage, Store } from "../../store/store.ts"
import { accepted } from "../../store/unstorable.ts"
import type { AnyTask } from "../../task/task.ts"
import { requireSchedule, TRIES, tooManyTries, trySteer } from "./change-schedule.ts"
import { checkPayload, checkStoredPayload } from "./payload-check.ts"
import type { ChangeReason } from "./steering-options.ts"

export interface TriggerNowOptions extends ChangeReason {
  /** Replaces the payload of the schedule. */
  readonly payload?: unknown
  readonly priority?: PriorityOption
  /** Also skips the next occurrence. */
  readonly insteadOfNext?: boolean
  /** The `scheduledFor` of the run. Must not be in the future. Default: none. */
  readonly asOf?: When
  /** Replaces the overlap policy of the schedule. */
  readonly overlap?: Overlap["policy"]
}

export interface TriggerNowResult {
  /** `skipped`: no run was created, because of the overlap policy and the unfinished run `runId`. */
  readonly outcome: "created" | "skipped"
  readonly runId: string
}

export const TRIGGER_NOW_OPTIONS = {
  payload,
  priority: PRIORITY,
  insteadOfNext: flag,
  asOf: instant,
  overlap: OVERLAP_POLICY,
  reason: remark,
  by: remark,
} satisfies Record<keyof TriggerNowOptions, OptionType<unknown>>

export type GivenTriggerNow = Checked<typeof TRIGGER_NOW_OPTIONS>

/** Creates one run now. The next occurrence is not affected, except with `insteadOfNext`. */
export async function triggerNow(
  store: Store,
  about: TriggerNowRequest,
  given: GivenTriggerNow,
): Promise<TriggerNowResult> {
  for (let tries = 0; tries < TRIES; tries++) {
    const schedule = await requireSchedule(store, about.scheduleId)
    const run = await checkedRun(store, schedule, about, given)
    const policy = given.overlap ?? schedule.overlap.policy
    const holder = await makeRoom(store, schedule, { policy, by: given.by ?? null })
    if (holder !== null) return { outcome: "skipped", runId: holder }
    // Other processes may create a run at the same time. The guard on the schedule's version lets only one through.
    const isGuarded = given.insteadOfNext || policy === "queue" || policy === "replace"
    const result = isGuarded
      ? await fireGuarded(store, schedule, run, given)
      : await enqueueUnguarded(store, run)
    if (result !== null) return result
  }
  throw tooManyTries(about.scheduleId, "triggered")
}

export interface TriggerNowRequest {
  readonly scheduleId: string
  readonly runId: string
  readonly tasks: ReadonlyMap<string, AnyTask>
}

/** Checks everything before anything is stored. For example, `insteadOfNext` needs a next occurrence. */
async function checkedRun(
  store: Store,
  schedule: Schedule,
  { runId, tasks }: TriggerNowRequest,
  given: GivenTriggerNow,
): Promise<NewRun> {
  const payload =
    given.payload === undefined ? schedule.payload : toPayload(given.payload, `Payload for "${schedule.id}"`)
  const check = given.payload === undefined ? checkStoredPayload : checkPayload
  await check(tasks, schedule.task, payload)
  const now = await store.now()
  if (given.insteadOfNext) skip(schedule, null, NO_REASON, now)
  return manualRun(schedule, { id: runId, payload, now }, given)
}

async function enqueueUnguarded(store: Store, run: NewRun): Promise<TriggerNowResult> {
  const { outcome, runId } = accepted((await store.enqueue([run]))[0]!)
  return outcome === "held" ? { outcome: "skipped", runId } : { outcome: "created", runId: run.id }
}

/**
 * The run and the skip are one plan, so both happen or neither. Null: the schedule changed, or the holder of its live key
 * finished.
 */
async function fireGuarded(
  store: Store,
  schedule: Schedule,
  run: NewRun,
  { insteadOfNext = false }: GivenTriggerNow,
): Promise<TriggerNowResult | null> {
  const { reason, by } = run
  const why = { reason, by }
  const { outcome } = await trySteer(store, schedule, {
    // The run itself records who triggered it. The journal records that the next occurrence is skipped.
    action: insteadOfNext ? "triggered" : null,
    why,
    decide: (stored, _facts, now) => ({
      ...(insteadOfNext ? skip(stored, null, why, now) : planOf(stored, {})),
      runs: [run],
    }),
  })
  if (outcome === "done") return { outcome: "created", runId: run.id }
  const holder = outcome === "held" ? await holderOf(store, run) : null
  return holder === null ? null : { outcome: "skipped", runId: holder.id }
}

/** The unfinished run that has the live key of the new run. Null: it has finished meanwhile. */
export async function holderOf(
  store: Store,
  { liveKey, concurrencyKey }: Pick<NewRun, "liveKey" | "concurrencyKey">,
): Promise<RunSummary | null> {
  const filter = { concurrencyKey: concurrencyKey!, states: UNFINISHED }
  for (let after: RunPage["after"] = null; ; ) {
    const page = await store.findRuns(filter, { orderBy: "createdAt", after, limit: HOLDER_PAGE })
    const holder = page.find((run) => run.liveKey === liveKey)
    if (holder !== undefined) return holder
    if (page.length < HOLDER_PAGE) return null
    const last = page.at(-1)!
    after = { at: last.createdAt, id: last.id }
  }
}

const HOLDER_PAGE = 100
const NO_REASON = { reason: null, by: null }

function manualRun(
  schedule: Schedule,
  about: { id: string; payload: Json; now: Instant },
  given: GivenTriggerNow,
): NewRun {
  const { overlap, asOf, reason = null, by = null } = given
  const asked =
    overlap === undefined ? schedule : { ...schedule, overlap: { ...schedule.overlap, policy: overlap } }
  return {
    ...requestOf(asked),
    id: about.id,
    payload: about.payload,
    scheduledFor: asOf === undefined ? null : checkedAsOf(schedule.id, asOf, about.now),
    priority: given.priority ?? schedule.priority,
    triggeredBy: "manual",
    trigger: "manual",
    reason,
    by,
    state: "pending",
    delayMs: 0,
    notBefore: null,
    message: null,
  }
}

function checkedAsOf(id: string, asOf: Instant, now: Instant): Instant {
  if (asOf <= now) return asOf
  throw new BelfryError(
    "BELFRY_RUN_INVALID",
    `"${id}" can't be triggered as of ${formatInstant(asOf)}: that is in the future.`,
    { details: { id, option: "asOf" } },
  )
}

/**
 * With `replace`, cancels the unfinished runs. With `queue`, returns the id of the oldest run if the queue is full. The other
 * policies are enforced by the run's live key.
 */
async function makeRoom(
  store: Store,
  schedule: Schedule,
  { policy, by }: { policy: Overlap["policy"]; by: string | null },
): Promise<string | null> {
  if (policy !== "replace" && policy !== "queue") return null
  const { unfinished } = await readFacts(store, schedule)
  if (policy === "queue") return isQueueFull(schedule, unfinished.length) ? unfinished[0]!.id : null
  const why = { reason: REPLACED_BY_HAND, by }
  await cancelAll(
    store,
    unfinished.map((run) => cancel(run, why)).filter((change) => change !== null),
  )
  return null
}
