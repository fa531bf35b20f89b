import { BelfryError } from "../../core/errors.ts"
import type { RunState } from "../../core/run.ts"
import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { RunSummaryView } from "../../scheduler/views.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { payloadFrom } from "../parsing/definition-flags.ts"
import { hasRunFilter, readRuns, runFilterOf } from "../parsing/run-filter.ts"
import { hint, nextStep, showAll, warn } from "../printing/output.ts"
import { progressOf } from "../printing/progress.ts"
import { runRows } from "../printing/run-rows.ts"
import { Refusal } from "../refusal.ts"
import { runOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { confirm } from "../terminal/confirm.ts"
import { becauseOf } from "./schedule-steer.ts"

/** Something done to many runs, one after the other. */
interface Steering {
  readonly verb: "retry" | "cancel" | "release"
  /** The states it can be done in; a filter that says none means the first ones. */
  readonly from: readonly RunState[]
  readonly unsaid: readonly RunState[]
  steer(scheduler: Scheduler, run: RunSummaryView): Promise<RunSummaryView>
}

export async function retryRuns(call: Call): Promise<ExitCode | undefined> {
  const payload = await payloadFrom(call)
  return steerEach(call, {
    verb: "retry",
    from: ["failed", "cancelled"],
    unsaid: ["failed"],
    steer: (scheduler, run) =>
      payload === undefined
        ? scheduler.runs.retry(run.id, becauseOf(call))
        : runAnew(call, scheduler, run, payload),
  })
}

export function cancelRuns(call: Call): Promise<ExitCode | undefined> {
  const unfinished: readonly RunState[] = ["pending", "running"]
  return steerEach(call, {
    verb: "cancel",
    from: unfinished,
    unsaid: unfinished,
    steer: (scheduler, { id }) => scheduler.runs.cancel(id, becauseOf(call)),
  })
}

export function releaseRuns(call: Call): Promise<ExitCode | undefined> {
  return steerEach(call, {
    verb: "release",
    from: ["running"],
    unsaid: ["running"],
    steer: (scheduler, { id }) => scheduler.runs.release(id, becauseOf(call)),
  })
}

/** All are looked up first: a wrong id changes nothing. */
async function steerEach(call: Call, steering: Steering): Promise<ExitCode | undefined> {
  const { verb } = steering
  return withScheduler(call, async ({ scheduler }) => {
    const isByFilter = call.args.length === 0
    const runs = isByFilter ? await filtered(call, scheduler, steering) : await named(call, scheduler)
    const words = runs.length === 1 ? "1 run" : `${runs.length} runs`
    const isDry = call.flags.isOn("dryRun")
    if (!isDry && runs.length > 0 && (isByFilter || runs.length > 1)) {
      tellSome(call, runs)
      await confirm(call, `${verb[0]!.toUpperCase()}${verb.slice(1)} ${words}?`, runs.length)
    }
    const { steered, refused } = await perform(call, scheduler, runs, steering)
    const isSteered = new Set(steered.map(({ id }) => id))
    await showAll(call, isDry ? runs.filter(({ id }) => isSteered.has(id)) : steered, runRows(call))
    const some = refused.length === 0 ? words : `${steered.length} of ${words}`
    if (isDry) hint(call, `Would ${verb} ${some}. Nothing was changed.`)
    else if (refused.length > 0) tellRefused(call, { verb, steered, refused, of: runs.length })
    if (verb === "retry" && steered.length > 0 && !isDry)
      nextStep(call, `Follow it: belfry run watch ${steered[0]!.id}`)
    return refused.length > 0 ? EXIT.conflict : undefined
  })
}

async function named(call: Call, scheduler: Scheduler): Promise<readonly RunSummaryView[]> {
  if (hasRunFilter(call))
    throw new Refusal(EXIT.usage, "Ids and a filter exclude each other.", "Leave one of them out.")
  const runs: RunSummaryView[] = []
  for (const id of call.args) runs.push(await runOf(scheduler, id))
  return runs
}

const LIMIT = 1_000

async function filtered(
  call: Call,
  scheduler: Scheduler,
  steering: Steering,
): Promise<readonly RunSummaryView[]> {
  const { verb, from, unsaid } = steering
  if (!hasRunFilter(call))
    throw new Refusal(
      EXIT.usage,
      "No run was named.",
      "Name ids, or say which: --schedule, --task, --worker, --status, --since, --until or --error.",
    )
  const filter = runFilterOf(call)
  const { state = unsaid } = filter.query
  const wrong = [state].flat().find((each) => !from.includes(each))
  if (wrong !== undefined)
    throw new Refusal(
      EXIT.usage,
      `Runs that are ${wrong} can't be ${PAST[verb]}.`,
      `Use --status ${from.join(" or ")}.`,
    )
  const limit = call.flags.whole("limit", { max: 100_000 }) ?? LIMIT
  const runs = await readRuns(scheduler, { ...filter, query: { ...filter.query, state } }, limit)
  if (runs.length === limit) hint(call, `There may be more than ${limit}: these are the newest.`)
  return runs
}

const PAST = { retry: "retried", cancel: "cancelled", release: "released" } as const
const TOLD = 5

/** What is about to happen, before anybody is asked. */
function tellSome(call: Call, runs: readonly RunSummaryView[]): void {
  for (const { id, state } of runs.slice(0, TOLD)) hint(call, `  ${id} (${state})`)
  if (runs.length > TOLD) hint(call, `  and ${runs.length - TOLD} more`)
}

/** One that can't be steered doesn't keep the others; each of them is named. */
async function perform(
  call: Call,
  scheduler: Scheduler,
  runs: readonly RunSummaryView[],
  { verb, steer }: Steering,
): Promise<{ steered: readonly RunSummaryView[]; refused: readonly BelfryError[] }> {
  const progress = progressOf(call, verb)
  const steered: RunSummaryView[] = []
  const refused: BelfryError[] = []
  for (const [index, run] of runs.entries()) {
    try {
      steered.push(await steer(scheduler, run))
    } catch (thrown) {
      const error = await explained(scheduler, run, thrown)
      const isRace = error instanceof BelfryError && (error.status === 409 || error.status === 404)
      if (!isRace || runs.length === 1) throw error
      refused.push(error)
      warn(call, error.message)
    }
    progress(index + 1, runs.length)
  }
  return { steered, refused }
}

/** Under the overlap policy `skip` a schedule has one unfinished run at a time: says which one is in the way. */
async function explained(scheduler: Scheduler, run: RunSummaryView, error: unknown): Promise<unknown> {
  const isHeld = error instanceof BelfryError && error.code === "BELFRY_RUN_HELD"
  if (!isHeld || run.scheduleId === null) return error
  const [other] = (
    await scheduler.runs.list({
      ...{ schedule: run.scheduleId, state: ["pending", "running"] as const, limit: 1 },
    })
  ).items
  if (other === undefined) return error
  return new BelfryError(
    "BELFRY_RUN_HELD",
    `${run.id} isn't tried again: ${other.id} isn't done, and runs of ${run.scheduleId} don't overlap.`,
    { cause: error },
  )
}

function tellRefused(
  call: Call,
  about: {
    verb: Steering["verb"]
    steered: readonly RunSummaryView[]
    refused: readonly BelfryError[]
    of: number
  },
): void {
  const { verb, steered, refused, of } = about
  const isHeld = refused.some(({ code }) => code === "BELFRY_RUN_HELD")
  const again = isHeld ? " Where runs don't overlap, repeat this when the one in the way has ended." : ""
  hint(call, `${steered.length} of ${of} runs ${PAST[verb]}, ${refused.length} not.${again}`)
}

/** A run's payload is part of what it is: another payload is another run, for the same occurrence. */
async function runAnew(
  call: Call,
  scheduler: Scheduler,
  run: RunSummaryView,
  payload: unknown,
): Promise<RunSummaryView> {
  const { by } = becauseOf(call)
  const { scheduleId, scheduledFor } = run
  const isStored = scheduleId !== null && (await scheduler.schedules.get(scheduleId)) !== null
  const { outcome, runId } = isStored
    ? await scheduler.schedules.trigger(scheduleId, {
        ...{ by, payload, reason: `Instead of ${run.id}` },
        ...(scheduledFor === null ? {} : { asOf: scheduledFor }),
      })
    : await scheduler.enqueue(run.task, { payload: { payload, by } })
  if (outcome === "created") return (await scheduler.runs.get(runId))!
  throw new BelfryError("BELFRY_RUN_HELD", `${run.id} isn't tried again: ${runId} isn't done.`)
}
