import type { Store, Unstorable } from "belfry/store"
import { type BrokenStore, broken } from "./breaking.ts"

/** One element that can't be stored harms the others, or a refusal is wrong. */
export const BROKEN_APART: readonly BrokenStore[] = [
  broken(12, "one plan that can't be stored fails the whole call", (store) => ({
    fire: (plans) => allOrNothing(plans, store.fire),
  })),
  broken(12, "one run that can't be stored fails the whole call", (store) => ({
    enqueue: (runs) => allOrNothing(runs, store.enqueue),
  })),
  broken(12, "one change that can't be stored fails the whole call", (store) => ({
    transition: (changes) => allOrNothing(changes, store.transition),
  })),
  broken(12, "a call ends at the first run that can't be stored", (store) => ({
    enqueue: async (runs) => {
      const bad = runs.findIndex((run) => !isStorable(run.payload))
      const stored = await store.enqueue(bad < 0 ? runs : runs.slice(0, bad))
      return runs.map((run, index) => stored[index] ?? { ...REFUSED, runId: run.id })
    },
  })),
  broken(12, "a large call with a run that can't be stored is sent twice in part", (store) => ({
    enqueue: async (runs) => {
      const isBad = runs.length > 250 && runs.some((run) => !isStorable(run.payload))
      if (isBad) await store.enqueue(runs.slice(250))
      return store.enqueue(runs)
    },
  })),
  broken(12, "a refused plan advances its schedule", (store) => ({
    fire: async (plans) => {
      const answers = await store.fire(plans)
      const refused = plans.filter((_, index) => answers[index]!.outcome === "unstorable")
      await store.fire(refused.map((plan) => ({ ...plan, runs: [] })))
      return answers
    },
  })),
  broken(12, "a refused plan stores some of its runs", (store) => ({
    fire: async (plans) => {
      const answers = await store.fire(plans)
      const refused = plans.filter((_, index) => answers[index]!.outcome === "unstorable")
      await store.enqueue(refused.flatMap((plan) => plan.runs.slice(0, 1)))
      return answers
    },
  })),
  broken(12, "a refusal doesn't say why", (store) => ({
    fire: async (plans) => (await store.fire(plans)).map(withoutWhy),
    enqueue: async (runs) => (await store.enqueue(runs)).map(withoutWhy),
    transition: async (changes) => (await store.transition(changes)).map(withoutWhy),
  })),
  broken(12, "a change that can't be stored is made without its details", (store) => ({
    transition: (changes) =>
      store.transition(
        changes.map((change) => (isStorable(change.details) ? change : { ...change, details: null })),
      ),
  })),
  broken(12, "a delay of NaN counts as 0", (store) => ({
    enqueue: (runs) =>
      store.enqueue(runs.map((run) => ({ ...run, delayMs: Number.isNaN(run.delayMs) ? 0 : run.delayMs }))),
  })),
  broken(12, "a log line that can't be stored makes the store drop the others", (store) => ({
    appendLogs: async (lines) => {
      if (lines.every((line) => isStorable(line.fields))) await store.appendLogs(lines)
    },
  })),
  broken(12, "a log line that can't be stored is an exception", (store) => ({
    appendLogs: async (lines) => {
      for (const line of lines) JSON.stringify(line.fields)
      await store.appendLogs(lines)
    },
  })),
  broken(12, "a schedule that can't be stored is stored in part", (store) => ({
    putSchedule: async (schedule, ifVersion) => {
      if (!isStorable(schedule.payload)) await store.putSchedule({ ...schedule, payload: null }, ifVersion)
      return store.putSchedule(schedule, ifVersion)
    },
  })),
]

const REFUSED: Unstorable = { outcome: "unstorable", why: "An earlier run can't be stored" }

function isStorable(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

/** Like one statement that is rolled back. */
async function allOrNothing<Element, Answer extends { outcome: string }>(
  elements: readonly Element[],
  send: (elements: readonly Element[]) => ReturnType<Store["fire"]> | Promise<readonly Answer[]>,
): Promise<readonly never[]> {
  JSON.stringify(elements)
  return (await send(elements)) as readonly never[]
}

function withoutWhy<Answer extends { outcome: string }>(answer: Answer): Answer {
  return answer.outcome === "unstorable" ? { ...answer, why: "" } : answer
}
