import assert from "node:assert/strict"
import { type RunChange, succeed } from "../../core/run/run.ts"
import type { Json } from "../../core/values/json.ts"
import type { Store } from "../store.ts"
import { aClaim, aLogLine, aPlan, aRun, aRunOf, aSchedule } from "./factories.ts"
import { type Law, lawCase } from "./law.ts"
import { created, enqueued, logOf, runById, runIfThere, running, scheduleById, several } from "./steps.ts"

/** No database can store these. */
const CIRCULAR: { self?: unknown } = {}
CIRCULAR.self = CIRCULAR
const IMPOSSIBLE = [CIRCULAR, { big: 1n }] as unknown as readonly Json[]
const NO_NUMBER = Number.NaN

const writing = [
  lawCase(
    "A plan that can't be stored is refused whole, and the call's other plans succeed",
    async (store) => {
      const schedules = await Promise.all(several(5, () => created(store, aSchedule({ nextRunAt: 1 }))))
      const [bad, ...good] = [schedules[2]!, schedules[0]!, schedules[1]!, schedules[3]!, schedules[4]!]
      const plans = schedules.map((schedule) => {
        const runs = schedule === bad ? [aRunOf(schedule.id), impossibleRun()] : [aRunOf(schedule.id)]
        return aPlan(schedule, { progress: { ...schedule, nextRunAt: 2 }, runs })
      })

      const answers = await store.fire(plans)

      assert.deepEqual(
        answers.map(({ outcome }) => outcome),
        ["done", "done", "unstorable", "done", "done"],
      )
      assertWhy(answers[2])
      assert.deepEqual(await scheduleById(store, bad.id), bad)
      assert.equal(await runIfThere(store, plans[2]!.runs[0]!.id), null)
      for (const { id } of good) assert.equal((await scheduleById(store, id)).nextRunAt, 2)
    },
  ),
  lawCase("A run that can't be stored is refused, and the call's other runs are stored", async (store) => {
    const runs = [aRun(), impossibleRun(), aRun(), impossibleRun(1), aRun({ delayMs: NO_NUMBER })]

    const answers = await store.enqueue(runs)

    assert.deepEqual(
      answers.map(({ outcome, runId }) => [outcome, runId]),
      runs.map(({ id }, index) => [index === 0 || index === 2 ? "created" : "unstorable", id]),
    )
    assertWhy(answers[1])
    assert.deepEqual(
      (await store.claim(aClaim())).runs.map(({ id }) => id).sort(),
      [runs[0]!.id, runs[2]!.id].sort(),
    )
  }),
  lawCase(
    "In a large call, a run that can't be stored is refused, and all others are stored",
    async (store) => {
      const runs = several(600, (index) => (index === 10 ? impossibleRun() : aRun()))

      const answers = await store.enqueue(runs)

      assert.deepEqual(
        answers.map(({ outcome }) => outcome),
        runs.map((_, index) => (index === 10 ? "unstorable" : "created")),
      )
    },
  ),
  lawCase("A change that can't be stored is refused, and the call's others are made", async (store) => {
    const runs = await Promise.all(several(4, () => enqueued(store, aRun())))
    const held = (await store.claim(aClaim())).runs
    const details: readonly Json[] = [null, IMPOSSIBLE[0]!, null, null]
    const changes: RunChange[] = runs.map(({ id }, index) =>
      succeed(held.find((run) => run.id === id)!, { message: null, details: details[index]! }),
    )
    changes[2] = { ...changes[2]!, state: "pending", outcome: "failed", claimableInMs: NO_NUMBER }

    const answers = await store.transition(changes)

    assert.deepEqual(
      answers.map(({ outcome }) => outcome),
      ["done", "unstorable", "unstorable", "done"],
    )
    assertWhy(answers[1])
    const states = await Promise.all(runs.map(async ({ id }) => (await runById(store, id)).state))
    assert.deepEqual(states, ["succeeded", "running", "running", "succeeded"])
  }),
  lawCase("After a refused change, another change to the same attempt succeeds", async (store) => {
    const run = await running(store, aRun())
    await store.transition([succeed(run, { message: null, details: IMPOSSIBLE[1]! })])

    const answers = await store.transition([succeed(run, { message: null, details: "small" })])

    assert.deepEqual(answers, [{ outcome: "done" }])
    assert.equal((await runById(store, run.id)).details, "small")
  }),
  lawCase("A log line that can't be stored is dropped, and the call's others are stored", async (store) => {
    const { id } = await enqueued(store, aRun())
    const line = (number: number, fields: Json = null) => aLogLine(id, { number, fields })

    await store.appendLogs([line(1), line(2, IMPOSSIBLE[0]), line(3), line(4, IMPOSSIBLE[1]), line(5)])

    assert.deepEqual(
      (await logOf(store, id)).map(({ number }) => number),
      [1, 3, 5],
    )
  }),
  lawCase("Putting a schedule that can't be stored throws, and stores nothing", async (store) => {
    const bad = aSchedule({ payload: IMPOSSIBLE[0]!, nextRunAt: 1 })

    await assert.rejects(store.putSchedule(bad, null), { code: "BELFRY_STORE_REFUSED" })

    assert.deepEqual(await due(store), [])
    await created(store, { ...bad, payload: null })
    assert.deepEqual(await due(store), [bad.id])
  }),
]

export const APART: Law = {
  number: 12,
  name: "Apart",
  statement:
    "A record that can't be read or stored harms no other: the rest of the call goes on without it, and it shows its fault.",
  cases: writing,
}

function impossibleRun(which = 0) {
  return aRun({ payload: IMPOSSIBLE[which]! })
}

function assertWhy(answer: unknown): void {
  const { why } = answer as { why?: unknown }
  assert.ok(typeof why === "string" && why.length > 0, "the answer says why")
}

async function due(store: Store): Promise<readonly string[]> {
  return (await store.dueSchedules({ limit: 10 })).due.map(({ schedule }) => schedule.id)
}
