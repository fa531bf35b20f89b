import { checked } from "../../core/checked.ts"
import { BelfryError } from "../../core/errors.ts"
import {
  cancel,
  isAlreadyMade,
  type Run,
  type RunChange,
  type RunState,
  release,
  retry,
  UNFINISHED,
} from "../../core/run.ts"
import type { Why } from "../../core/steer.ts"
import { accepted } from "../../store/refused.ts"
import type { Store, TransitionAnswer } from "../../store/store.ts"
import { dryStore } from "../dry-store.ts"
import {
  doToMany,
  idsOf,
  MANY_OPTIONS,
  type ManyOptions,
  type ManyReport,
  refusalOf,
  selected,
  upTo,
} from "../many.ts"
import { BECAUSE, type Because } from "../schedules/steering-options.ts"
import { holderOf } from "../schedules/trigger.ts"
import { listRuns } from "./list-runs.ts"
import { RUN_SELECTION, type RunSelection, sourceOf } from "./run-options.ts"

/** Something that a person does to a run. */
export interface RunStep {
  readonly method: "cancel" | "retry" | "release"
  /** As in "can't be …". */
  readonly past: string
  /** The states in which it can be done, and those that a filter means which names none. */
  readonly from: readonly RunState[]
  readonly unsaid: readonly RunState[]
  /** What the run says of it, where no reason is given. */
  readonly reason: string | null
  /** Null if it can't be done to the run as it is. */
  decide(run: Run, why: Why): RunChange | null
}

export const CANCEL: RunStep = {
  ...{ method: "cancel", past: "cancelled", from: UNFINISHED, unsaid: UNFINISHED, reason: null },
  decide: cancel,
}

export const RETRY: RunStep = {
  ...{ method: "retry", past: "tried again", from: ["failed", "cancelled"], unsaid: ["failed"] },
  // Why it was cancelled, or failed, is no longer why it is as it is.
  reason: "Tried again by an operator",
  decide: (run, { by, reason }) => retry(run, by, reason!),
}

export const RELEASE: RunStep = {
  ...{ method: "release", past: "released", from: ["running"], unsaid: ["running"] },
  reason: "Released by an operator",
  decide: (run, { by, reason }) => (run.state === "running" ? release(run, reason!, by) : null),
}

const TRIES = 20

/** Decides on the run as it is, and again if it moves meanwhile. Returns the run as it is then. */
export async function stepRun(store: Store, id: string, step: RunStep, because: Because): Promise<Run> {
  const { past } = step
  const why = whyOf(step, because)
  for (let tries = 0; tries < TRIES; tries++) {
    const run = await requireRun(store, id)
    const change = step.decide(run, why)
    if (change === null) throw wrongState(run, past)
    const answer = accepted((await store.transition([change]))[0]!)
    if (answer.outcome === "held") throw await heldBy(store, run, past)
    if (answer.outcome === "done" || isAlreadyMade(change, answer)) return (await findRun(store, id)) ?? run
  }
  throw new BelfryError("BELFRY_RUN_STATE", `Run "${id}" moved ${TRIES} times while it was being ${past}.`)
}

/** Newest first, each by itself. */
export async function stepMany(
  { store, ready }: { store: Store; ready(): Promise<void> },
  which: RunSelection,
  options: Because & ManyOptions,
  step: RunStep,
): Promise<ManyReport> {
  const source = sourceOf(step.method)
  const given = checked(options, { ...BECAUSE, ...MANY_OPTIONS }, source)
  const { dryRun = false, limit = Number.POSITIVE_INFINITY, onProgress } = given
  const chosen = selected(which, RUN_SELECTION, source)
  const { state = step.unsaid } = chosen.ids === null ? chosen.filter : {}
  const wrong = state.find((each) => !step.from.includes(each))
  if (wrong !== undefined) {
    const text = `runs.${step.method}: runs that are ${wrong} can't be ${step.past}; those that are ${step.from.join(" or ")} can.`
    throw new BelfryError("BELFRY_RUN_INVALID", text, { details: { option: "state" } })
  }
  await ready()
  const ids =
    chosen.ids === null
      ? runIds(listRuns({ store, ready }, { ...chosen.filter, state, limit: PAGE, cursor: undefined }))
      : idsOf(chosen.ids)
  const target = dryRun ? dryStore(store) : store
  const take = (some: readonly string[]) => stepSome(target, some, step, given as Because)
  return doToMany(upTo(ids, limit), { size: AT_ONCE, take }, onProgress)
}

const AT_ONCE = 100

/** In one call, in their order. */
async function stepSome(
  store: Store,
  ids: readonly string[],
  step: RunStep,
  because: Because,
): Promise<readonly (BelfryError | null)[]> {
  const why = whyOf(step, because)
  const runs = new Map((await store.readRuns(ids)).map((run) => [run.id, run]))
  const changes = new Map(ids.map((id) => [id, runs.has(id) ? step.decide(runs.get(id)!, why) : null]))
  const made = [...changes.values()].filter((change) => change !== null)
  const answers = made.length === 0 ? [] : await store.transition(made)
  const answerOf = new Map(made.map(({ runId }, index) => [runId, answers[index]!]))
  const refusals: (BelfryError | null)[] = []
  for (const id of ids) {
    const [run, answer] = [runs.get(id), answerOf.get(id)]
    if (run === undefined) refusals.push(noRun(id))
    else if (answer === undefined) refusals.push(wrongState(run, step.past))
    else refusals.push(await refusalBy(store, { run, step, because }, accepted(answer)))
  }
  return refusals
}

/** One that has moved is tried again, by itself. */
function refusalBy(
  store: Store,
  { run, step, because }: { run: Run; step: RunStep; because: Because },
  { outcome }: TransitionAnswer,
): BelfryError | null | Promise<BelfryError | null> {
  if (outcome === "done") return null
  if (outcome === "held") return heldBy(store, run, step.past)
  return refusalOf(stepRun(store, run.id, step, because))
}

function whyOf(step: RunStep, because: Because): Why {
  return { reason: because.reason ?? step.reason, by: because.by ?? null }
}

const PAGE = 500

async function* runIds(runs: AsyncIterable<{ id: string }>): AsyncIterable<string> {
  for await (const { id } of runs) yield id
}

export async function findRun(store: Store, id: string): Promise<Run | null> {
  const [run] = await store.readRuns([id])
  return run ?? null
}

export async function requireRun(store: Store, id: string): Promise<Run> {
  const run = await findRun(store, id)
  if (run !== null) return run
  throw noRun(id)
}

function noRun(id: string): BelfryError {
  return new BelfryError("BELFRY_RUN_NOT_FOUND", `There is no run "${id}".`, { details: { id } })
}

export function wrongState({ id, state }: Run, past: string): BelfryError {
  return new BelfryError("BELFRY_RUN_STATE", `Run "${id}" is ${state} and can't be ${past}.`, {
    details: { id, state },
  })
}

/** Says which run is in the way, if it can still be found. */
async function heldBy(store: Store, run: Run, past: string): Promise<BelfryError> {
  const holder = run.concurrencyKey === null ? null : await holderOf(store, run)
  const other = holder === null ? "another unfinished run holds its key" : `${holder.id} isn't done`
  const why =
    run.scheduleId === null || holder === null ? "" : `, and runs of ${run.scheduleId} don't overlap`
  const text = `Run "${run.id}" can't be ${past}: ${other}${why}.`
  return new BelfryError("BELFRY_RUN_HELD", text, { details: { id: run.id } })
}
