import type { FirePlan } from "../../core/planning/plan.ts"
import { isFinished, type NewRun, type RunChange } from "../../core/run/run.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { EnqueueAnswer, FireAnswer, Hint, Swap, TransitionAnswer } from "../../store/store.ts"

/**
 * Which hints a write sends. One decision for all stores, except that Redis publishes hints inside its scripts, by the same
 * rules. A write that changed nothing sends no hint.
 */

/**
 * `isSooner` says for each plan whether its schedule is now due earlier than listeners expect. An ordinary fire needs no hint
 * about schedules, because listeners have read the schedule's next run. A plan with a journal entry is an operator's step.
 */
export function hintsOfFire(
  plans: readonly FirePlan[],
  answers: readonly FireAnswer[],
  isSooner: readonly boolean[],
): readonly Hint[] {
  const hints = new Set<Hint>()
  for (const [index, answer] of answers.entries()) {
    if (answer.outcome !== "done") continue
    const { runs, entry } = plans[index]!
    const created = new Set(answer.created)
    if (runs.some((run) => isPending(run) && created.has(run.id))) hints.add("runs")
    if (isSooner[index] || entry !== undefined) hints.add("schedules")
  }
  return [...hints]
}

/** Whether a plan makes its schedule due earlier than listeners expect. */
export function isDueSooner({ progress }: FirePlan, nextRunAtBefore: Instant | null): boolean {
  const next = progress?.nextRunAt ?? null
  return next !== null && (nextRunAtBefore === null || next < nextRunAtBefore)
}

export function hintsOfEnqueue(runs: readonly NewRun[], answers: readonly EnqueueAnswer[]): readonly Hint[] {
  const isNew = ({ outcome }: EnqueueAnswer, index: number) =>
    outcome === "created" && isPending(runs[index]!)
  return answers.some(isNew) ? ["runs"] : []
}

/** `mayFreeRuns`: a changed run has a concurrency limit, so its end may let another run with its key begin. */
export function hintsOfTransition(
  changes: readonly RunChange[],
  answers: readonly TransitionAnswer[],
  mayFreeRuns: boolean,
): readonly Hint[] {
  const done = changes.filter((_, index) => answers[index]!.outcome === "done")
  const hints: Hint[] = []
  if (mayFreeRuns || done.some(isPending)) hints.push("runs")
  if (done.some(({ state }) => state === "cancelled")) hints.push("cancelled")
  if (done.some(({ state }) => isFinished(state))) hints.push("ended")
  return hints
}

export function hintsOfSwap({ outcome }: Swap, hint: "schedules" | "documents"): readonly Hint[] {
  return outcome === "done" ? [hint] : []
}

function isPending({ state }: { readonly state: string }): boolean {
  return state === "pending"
}
