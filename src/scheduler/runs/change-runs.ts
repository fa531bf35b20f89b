import { BelfryError } from "../../core/errors.ts"
import { checked } from "../../core/options/checked.ts"
import type { Why } from "../../core/planning/steer.ts"
import {
  cancel,
  isAlreadyMade,
  type Run,
  type RunChange,
  type RunState,
  retry,
  takeAway,
  UNFINISHED,
} from "../../core/run/run.ts"
import type { Store, TransitionAnswer } from "../../store/store.ts"
import { accepted, isUnstorable } from "../../store/unstorable.ts"
import { dryStore } from "../dry-store.ts"
import {
  distinctIds,
  firstOf,
  MANY_OPTIONS,
  type ManyOptions,
  type ManyReport,
  refusalErrorOf,
  selected,
  takeInBatches,
} from "../many.ts"
import { CHANGE_REASON, type ChangeReason } from "../schedules/steering-options.ts"
import { holderOf } from "../schedules/trigger.ts"
import { listRuns } from "./list-runs.ts"
import { RUN_SELECTION, type RunSelection, sourceOf } from "./run-options.ts"

/** An operator's change of a run. */
export interface RunOperation {
  readonly method: "cancel" | "retry" | "release"
  /** The past participle, for messages such as "can't be cancelled". */
  readonly past: string
  /** The states in which the operation is possible, and the states that a filter without `state` selects. */
  readonly from: readonly RunState[]
  readonly defaultStates: readonly RunState[]
  /** The reason recorded on the run if the operator gives none. */
  readonly reason: string | null
  /** Null: the operation is not possible in the current state of the run. */
  decide(run: Run, why: Why): RunChange | null
}

export const CANCEL: RunOperation = {
  ...{ method: "cancel", past: "cancelled", from: UNFINISHED, defaultStates: UNFINISHED, reason: null },
  decide: cancel,
}

export const RETRY: RunOperation = {
  ...{ method: "retry", past: "retried", from: ["failed", "cancelled"], defaultStates: ["failed"] },
  // Replaces the reason of the cancellation or failure, which no longer applies.
  reason: "Retried by an operator",
  decide: (run, { by, reason }) => retry(run, by, reason!),
}

export const RELEASE: RunOperation = {
  ...{ method: "release", past: "released", from: ["running"], defaultStates: ["running"] },
  reason: "Released by an operator",
  decide: (run, { by, reason }) => (run.state === "running" ? takeAway(run, reason!, by) : null),
}

const TRIES = 200

/** Decides on the stored run, and decides again if the run changes meanwhile. Returns the changed run. */
export async function changeRun(
  store: Store,
  id: string,
  operation: RunOperation,
  because: ChangeReason,
): Promise<Run> {
  const { past } = operation
  const why = whyOf(operation, because)
  for (let tries = 0; tries < TRIES; tries++) {
    const run = await requireRun(store, id)
    const change = operation.decide(run, why)
    if (change === null) throw wrongState(run, past)
    const answer = accepted((await store.transition([change]))[0]!)
    if (answer.outcome === "held") throw await heldBy(store, run, past)
    if (answer.outcome === "done" || isAlreadyMade(change, answer)) return (await findRun(store, id)) ?? run
  }
  throw new BelfryError("BELFRY_RUN_STATE", `Run "${id}" changed ${TRIES} times while it was being ${past}.`)
}

/** Newest first. Each run is changed independently of the others. */
export async function changeMany(
  { store, ready }: { store: Store; ready(): Promise<void> },
  which: RunSelection,
  options: ChangeReason & ManyOptions,
  operation: RunOperation,
): Promise<ManyReport> {
  const source = sourceOf(operation.method)
  const given = checked(options, { ...CHANGE_REASON, ...MANY_OPTIONS }, source)
  const { dryRun = false, limit = Number.POSITIVE_INFINITY, onProgress } = given
  const chosen = selected(which, RUN_SELECTION, source)
  const { state = operation.defaultStates } = chosen.ids === null ? chosen.filter : {}
  const impossible = state.find((each) => !operation.from.includes(each))
  if (impossible !== undefined) {
    const text = `runs.${operation.method}: runs that are ${impossible} can't be ${operation.past}; only ${operation.from.join(" or ")} runs can.`
    throw new BelfryError("BELFRY_RUN_INVALID", text, { details: { option: "state" } })
  }
  await ready()
  const ids =
    chosen.ids === null
      ? runIds(listRuns({ store, ready }, { ...chosen.filter, state, limit: PAGE, cursor: undefined }))
      : distinctIds(chosen.ids)
  const target = dryRun ? dryStore(store) : store
  const take = (batch: readonly string[]) => changeBatch(target, batch, operation, given as ChangeReason)
  return takeInBatches(firstOf(ids, limit), { size: AT_ONCE, take }, onProgress)
}

const AT_ONCE = 100

/** One call of the store for all ids. The results are in the order of the ids. */
async function changeBatch(
  store: Store,
  ids: readonly string[],
  operation: RunOperation,
  because: ChangeReason,
): Promise<readonly (BelfryError | null)[]> {
  const why = whyOf(operation, because)
  const runs = new Map((await store.readRuns(ids)).map((run) => [run.id, run]))
  const changes = new Map(ids.map((id) => [id, runs.has(id) ? operation.decide(runs.get(id)!, why) : null]))
  const made = [...changes.values()].filter((change) => change !== null)
  const answers = made.length === 0 ? [] : await store.transition(made)
  const answerOf = new Map(made.map(({ runId }, index) => [runId, answers[index]!]))
  const refusals: (BelfryError | null)[] = []
  for (const id of ids) {
    const [run, answer] = [runs.get(id), answerOf.get(id)]
    if (run === undefined) refusals.push(noRun(id))
    else if (answer === undefined) refusals.push(wrongState(run, operation.past))
    else if (isUnstorable(answer)) refusals.push(new BelfryError("BELFRY_STORE_REFUSED", answer.why))
    else refusals.push(await refusalBy(store, { run, operation, because }, answer))
  }
  return refusals
}

/** A run that has changed meanwhile is retried separately. */
function refusalBy(
  store: Store,
  { run, operation, because }: { run: Run; operation: RunOperation; because: ChangeReason },
  { outcome }: TransitionAnswer,
): BelfryError | null | Promise<BelfryError | null> {
  if (outcome === "done") return null
  if (outcome === "held") return heldBy(store, run, operation.past)
  return refusalErrorOf(changeRun(store, run.id, operation, because))
}

function whyOf(operation: RunOperation, because: ChangeReason): Why {
  return { reason: because.reason ?? operation.reason, by: because.by ?? null }
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

/** The error names the run that holds the key, if it can still be found. */
async function heldBy(store: Store, run: Run, past: string): Promise<BelfryError> {
  const holder = run.concurrencyKey === null ? null : await holderOf(store, run)
  const other = holder === null ? "another unfinished run holds its key" : `run ${holder.id} has not finished`
  const why =
    run.scheduleId === null || holder === null ? "" : `, and runs of ${run.scheduleId} don't overlap`
  const text = `Run "${run.id}" can't be ${past}: ${other}${why}.`
  return new BelfryError("BELFRY_RUN_HELD", text, { details: { id: run.id } })
}
