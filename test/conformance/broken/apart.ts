import type { Refused, Store } from "belfry/store"
import { type BrokenStore, broken } from "./breaking.ts"

/** Apart: one element that can't be kept harms the others, or its refusal isn't what it says. */
export const BROKEN_APART: readonly BrokenStore[] = [
  broken(12, "one plan that can't be kept fails the whole call", (store) => ({
    fire: (plans) => allOrNothing(plans, store.fire),
  })),
  broken(12, "one run that can't be kept fails the whole call", (store) => ({
    enqueue: (runs) => allOrNothing(runs, store.enqueue),
  })),
  broken(12, "one change that can't be kept fails the whole call", (store) => ({
    transition: (changes) => allOrNothing(changes, store.transition),
  })),
  broken(12, "a call ends at the first run that can't be kept", (store) => ({
    enqueue: async (runs) => {
      const bad = runs.findIndex((run) => !isKeepable(run.payload))
      const stored = await store.enqueue(bad < 0 ? runs : runs.slice(0, bad))
      return runs.map((run, index) => stored[index] ?? { ...REFUSED, runId: run.id })
    },
  })),
  broken(12, "a plan that is refused has advanced its schedule", (store) => ({
    fire: async (plans) => {
      const answers = await store.fire(plans)
      const refused = plans.filter((_, index) => answers[index]!.outcome === "refused")
      await store.fire(refused.map((plan) => ({ ...plan, runs: [] })))
      return answers
    },
  })),
  broken(12, "a plan that is refused has stored some of its runs", (store) => ({
    fire: async (plans) => {
      const answers = await store.fire(plans)
      const refused = plans.filter((_, index) => answers[index]!.outcome === "refused")
      await store.enqueue(refused.flatMap((plan) => plan.runs.slice(0, 1)))
      return answers
    },
  })),
  broken(12, "a refusal doesn't say why", (store) => ({
    fire: async (plans) => (await store.fire(plans)).map(withoutWhy),
    enqueue: async (runs) => (await store.enqueue(runs)).map(withoutWhy),
    transition: async (changes) => (await store.transition(changes)).map(withoutWhy),
  })),
  broken(12, "a change that can't be kept is made without its details", (store) => ({
    transition: (changes) =>
      store.transition(
        changes.map((change) => (isKeepable(change.details) ? change : { ...change, details: null })),
      ),
  })),
  broken(12, "a time that is no number is taken for now", (store) => ({
    enqueue: (runs) =>
      store.enqueue(runs.map((run) => ({ ...run, delayMs: Number.isNaN(run.delayMs) ? 0 : run.delayMs }))),
  })),
  broken(12, "a line that can't be kept takes the others of its call along", (store) => ({
    appendLogs: async (lines) => {
      if (lines.every((line) => isKeepable(line.fields))) await store.appendLogs(lines)
    },
  })),
  broken(12, "a line that can't be kept is a fault", (store) => ({
    appendLogs: async (lines) => {
      for (const line of lines) JSON.stringify(line.fields)
      await store.appendLogs(lines)
    },
  })),
  broken(12, "a schedule that can't be kept is stored in part", (store) => ({
    putSchedule: async (schedule, ifVersion) => {
      if (!isKeepable(schedule.payload)) await store.putSchedule({ ...schedule, payload: null }, ifVersion)
      return store.putSchedule(schedule, ifVersion)
    },
  })),
]

const REFUSED: Refused = { outcome: "refused", why: "An earlier one can't be kept" }

function isKeepable(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

/** As one statement that is rolled back. */
async function allOrNothing<Element, Answer extends { outcome: string }>(
  elements: readonly Element[],
  send: (elements: readonly Element[]) => ReturnType<Store["fire"]> | Promise<readonly Answer[]>,
): Promise<readonly never[]> {
  JSON.stringify(elements)
  return (await send(elements)) as readonly never[]
}

function withoutWhy<Answer extends { outcome: string }>(answer: Answer): Answer {
  return answer.outcome === "refused" ? { ...answer, why: "" } : answer
}
