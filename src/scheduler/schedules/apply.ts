import { BelfryError, type ErrorCode } from "../../core/errors.ts"
import { checked, checkedValue, copied, type OptionType } from "../../core/options/checked.ts"
import { defineSchedule } from "../../core/options/definition.ts"
import { TAG } from "../../core/options/limits.ts"
import { callback, flag, list, record, required, unread } from "../../core/options/option-types.ts"
import { checkId } from "../../core/options/policies.ts"
import { cyclesIn, inDependencyOrder } from "../../core/schedule/dependency-cycles.ts"
import { changedFields, definitionOf } from "../../core/schedule/reconcile.ts"
import type { Schedule } from "../../core/schedule/schedule.ts"
import type { Store } from "../../store/store.ts"
import type { AnyTask } from "../../task/task.ts"
import { dryStore } from "../dry-store.ts"
import { collected } from "../listing.ts"
import { refusalErrorOf } from "../many.ts"
import { notTaken } from "./apply-steps.ts"
import { deleteSchedule } from "./change-schedule.ts"
import { type ChangedValue, changedValues } from "./changed-values.ts"
import { checkedRequest, createSchedule, putSchedule } from "./define-schedules.ts"
import { cycleRefusal, dependenciesFrom } from "./dependencies.ts"
import { checkStoredPayload } from "./payload-check.ts"
import { schedulesBy, schedulesOf } from "./read-schedules.ts"
import type { ScheduleParts } from "./schedule-parts.ts"
import { CHANGE_REASON, type ChangeReason, type CreateOptions, sourceOf } from "./steering-options.ts"

/** A complete schedule with its id, as in a file of schedules. */
export type ScheduleToApply = Omit<CreateOptions<unknown>, "task"> & {
  readonly id: string
  readonly task: AnyTask | string
}

export interface ApplyOptions extends ChangeReason {
  /** Also deletes the schedules with this tag that are not listed, except those declared in code. */
  readonly prune?: { readonly tag: string }
  /** Reports what would happen and changes nothing. */
  readonly dryRun?: boolean
  readonly onProgress?: (done: number, total: number) => void
}

export interface ApplyReport {
  /** In the order of execution: a schedule comes after the schedules it depends on. */
  readonly steps: readonly ApplyStep[]
  /** True with the option `dryRun`: nothing was changed. */
  readonly isDryRun: boolean
}

/** The change that one schedule needs, and the result of that change. */
export interface ApplyStep {
  readonly id: string
  /** `owned`: the schedule is declared in code and is not changed. */
  readonly action: "create" | "change" | "same" | "delete" | "owned"
  /** The options that differ. */
  readonly changes: readonly ChangedValue[]
  /** The owner, if the schedule is declared in code. */
  readonly owner: string | null
  /** Why the step is refused. */
  readonly refused: { readonly code: ErrorCode; readonly message: string } | null
  /** The step was not taken: another step is refused, and then nothing is changed, or the store became unavailable. */
  readonly isNotTried: boolean
}

export const APPLY_OPTIONS = {
  ...CHANGE_REASON,
  prune: record({ tag: required(TAG) }),
  dryRun: flag,
  onProgress: callback<(done: number, total: number) => void>(),
} satisfies Record<keyof ApplyOptions, OptionType<unknown>>

const MANY = list(unread, { max: 100_000 })

/** All steps are tried on a dry store first. If one would be refused, nothing is changed. */
export async function applySchedules(
  parts: ScheduleParts,
  schedules: readonly ScheduleToApply[],
  options: ApplyOptions,
): Promise<ApplyReport> {
  const { prune, dryRun = false, onProgress, ...because } = checked(options, APPLY_OPTIONS, SOURCE)
  const wanted = checkedSchedules(schedules)
  await parts.ready()
  const planned = await planApply(parts.store, wanted, prune?.tag ?? null)
  const dry = { ...parts, store: dryStore(parts.store) }
  const tried = await takeAll(dry, planned, because as ChangeReason)
  if (dryRun) return { steps: tried, isDryRun: true }
  if (tried.some(({ refused }) => refused !== null)) return { steps: notTaken(tried), isDryRun: false }
  return { steps: await takeAll(parts, planned, because as ChangeReason, onProgress), isDryRun: false }
}

const SOURCE = sourceOf("apply")

function checkedSchedules(
  schedules: readonly ScheduleToApply[],
): ReadonlyMap<string, CreateOptions<unknown>> {
  checkedValue(schedules, required(MANY), { source: SOURCE, option: "schedules" })
  const wanted = new Map<string, CreateOptions<unknown>>()
  for (const [index, each] of schedules.entries()) {
    const { id, ...rest } = copied(each, { source: SOURCE, option: `schedules[${index}]` })
    const options = rest as CreateOptions<unknown>
    if (wanted.has(checkId(id))) {
      const text = `schedules.apply: schedule "${id}" is listed twice.`
      throw new BelfryError("BELFRY_SCHEDULE_INVALID", text, { details: { id } })
    }
    checkedRequest(id, options)
    wanted.set(id, options)
  }
  return wanted
}

interface Planned extends Pick<ApplyStep, "id" | "action" | "changes" | "owner"> {
  readonly options: CreateOptions<unknown> | null
  readonly stored: Schedule | null
}

async function planApply(
  store: Store,
  wanted: ReadonlyMap<string, CreateOptions<unknown>>,
  pruneTag: string | null,
): Promise<readonly Planned[]> {
  const stored = await schedulesOf(store, [...wanted.keys()])
  const steps = [...wanted].map(([id, options]) => stepFor(id, options, stored.get(id) ?? null))
  await checkCycles(store, wanted)
  const tagged = pruneTag === null ? [] : await collected(schedulesBy(store, { tag: pruneTag }))
  const pruned = tagged.filter(({ id, owner }) => owner === null && !wanted.has(id))
  checkStillNeeded(wanted, pruned)
  return [
    ...dependenciesFirst(steps),
    ...pruned.map((stored): Planned => {
      return { id: stored.id, action: "delete", changes: [], owner: null, options: null, stored }
    }),
  ]
}

/** A schedule whose dependency doesn't exist could not have been created. */
function checkStillNeeded(
  wanted: ReadonlyMap<string, CreateOptions<unknown>>,
  pruned: readonly Schedule[],
): void {
  const ids = new Set(pruned.map(({ id }) => id))
  for (const [id, options] of wanted) {
    const needed = dependedOn(options).find((each) => ids.has(each))
    if (needed === undefined) continue
    const text = `schedules.apply: schedule "${id}" depends on "${needed}", which prune would delete. Add "${needed}" to the list, or remove its tag.`
    throw new BelfryError("BELFRY_SCHEDULE_INVALID", text, { details: { id, needed } })
  }
}

function stepFor(id: string, options: CreateOptions<unknown>, stored: Schedule | null): Planned {
  const request = checkedRequest(id, options)
  const about = { id, changes: [], owner: null, options, stored }
  if (stored === null) return { ...about, action: "create" }
  const { task, payload } = request
  const { owner, release } = stored
  const wanted = defineSchedule(request.options, { id, task, payload, owner, release, now: null })
  const before = definitionOf(stored)
  if (changedFields(before, wanted).length === 0) return { ...about, action: "same" }
  if (owner !== null) return { ...about, action: "owned", owner }
  return { ...about, action: "change", changes: changedValues(before, wanted) }
}

/** Checked for all schedules together. Separate checks would refuse each schedule of a cycle with "create that one first". */
async function checkCycles(store: Store, wanted: ReadonlyMap<string, CreateOptions<unknown>>): Promise<void> {
  const dependencies = new Map([...wanted].map(([id, options]) => [id, dependedOn(options)]))
  const cycles = cyclesIn(await dependenciesFrom(store, dependencies))
  const own = cycles.find((cycle) => cycle.some((id) => wanted.has(id)))
  if (own !== undefined) throw cycleRefusal(own)
}

/** A schedule can be created only after the schedules it depends on. */
function dependenciesFirst(steps: readonly Planned[]): readonly Planned[] {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const dependencies = new Map(steps.map(({ id, options }) => [id, dependedOn(options)]))
  return inDependencyOrder(dependencies).map((id) => byId.get(id)!)
}

function dependedOn(options: CreateOptions<unknown> | null): readonly string[] {
  return (options?.dependsOn ?? []).map(({ schedule }) => schedule)
}

/** A refused step doesn't stop the following steps, unless the store is unavailable. */
async function takeAll(
  parts: ScheduleParts,
  steps: readonly Planned[],
  because: ChangeReason,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<readonly ApplyStep[]> {
  const tried: ApplyStep[] = []
  let isAway = false
  for (const [index, step] of steps.entries()) {
    const { id, action, changes, owner } = step
    const error: BelfryError | null = isAway ? null : await errorOfStep(parts, step, because)
    const refused: ApplyStep["refused"] = error === null ? null : { code: error.code, message: error.message }
    tried.push({ id, action, changes, owner, refused, isNotTried: isAway && action !== "same" })
    isAway ||= refused?.code === "BELFRY_STORE_UNAVAILABLE"
    onProgress(index + 1, steps.length)
  }
  return tried
}

/** Here, an unavailable store is a refusal, too: the report says which steps were taken before. */
function errorOfStep(
  parts: ScheduleParts,
  step: Planned,
  because: ChangeReason,
): Promise<BelfryError | null> {
  return refusalErrorOf(take(parts, step, because), () => true)
}

async function take(parts: ScheduleParts, step: Planned, because: ChangeReason): Promise<void> {
  const { id, action, options, stored } = step
  const { reason = null, by = null } = because
  if (action === "create") await createSchedule(parts, id, options!, because)
  if (action === "change")
    await putSchedule(parts, id, options!, { ...because, ifRevision: stored!.revision })
  if (action === "delete") await deleteSchedule(parts.store, id, { reason, by })
  // A stored payload stays valid even if its task no longer takes a payload.
  if (action === "same") await checkStoredPayload(parts.tasks, stored!.task, stored!.payload)
}
