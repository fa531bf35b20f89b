import assert from "node:assert/strict"
import { cancel } from "../../core/run.ts"
import type { Hint, Store } from "../store.ts"
import { aDocument, aPlan, aRun, aSchedule, MOMENT_MS } from "./factories.ts"
import { type Lab, type Law, lawCase } from "./law.ts"
import { claimed, created, enqueued, running } from "./steps.ts"

const HINTS: readonly Hint[] = ["schedules", "runs", "cancelled", "documents", "ended"]

/** A store that never hints keeps this law; one that hints too much breaks it. */
export const HINTS_LAW: Law = {
  number: 11,
  name: "Hints",
  statement: "`listen` may be late, repeated or silent: only speed depends on it.",
  cases: [
    lawCase("A hint is one of the words of the contract", async (store, lab) => {
      const heard: string[] = []
      const stop = await store.listen((hint) => heard.push(hint))

      await makeNews(store)
      await lab.pass(HINT_MS)
      await stop()

      for (const hint of heard) assert.ok(HINTS.includes(hint as Hint), `"${hint}" is a hint`)
    }),
    lawCase("Nobody is called back any more after it stopped listening", async (store, lab) => {
      const heard: Hint[] = []
      const stop = await store.listen((hint) => heard.push(hint))
      await makeNews(store)
      await stop()
      const before = heard.length

      await makeNews(store)
      await lab.pass(HINT_MS)

      assert.equal(heard.length, before)
    }),
    lawCase(
      "One who stops listening doesn't stop another, also with the same callback",
      async (store, lab) => {
        const heard: Hint[] = []
        const onHint = (hint: Hint) => heard.push(hint)
        const stops = [await store.listen(onHint), await store.listen(onHint)]
        const hears = async (withinMs: number) => {
          const before = heard.length
          await makeNews(store)
          return passUntil(lab, () => heard.length > before, withinMs)
        }
        // A store that can't listen may say so by hinting at everything when it begins, however late: that is once.
        const isSilent = !(await hears(HINT_MS)) || !(await hears(HINT_MS)) || !(await hears(HINT_MS))
        await stops[0]!()

        // A store that was silent for both may go on being silent.
        assert.ok(isSilent || (await hears(PATIENCE_MS)), "the other one still hears")
        await stops[1]!()
      },
    ),
    lawCase(
      "A listener that throws harms neither the write it follows nor other listeners",
      async (store, lab) => {
        const [before, after]: [Hint[], Hint[]] = [[], []]
        const stops = [
          await store.listen((hint) => void before.push(hint)),
          await store.listen(() => {
            throw new Error("a listener's own mistake")
          }),
          await store.listen((hint) => void after.push(hint)),
        ]

        await makeNews(store)
        const run = await enqueued(store, aRun())
        await passUntil(lab, () => before.length > 0, HINT_MS)
        // A store that was silent for one may be silent for the other.
        const isHeard = before.length === 0 || (await passUntil(lab, () => after.length > 0, PATIENCE_MS))
        for (const stop of stops) await stop()

        assert.equal((await claimed(store, run.id)).attempt, 1)
        assert.ok(isHeard, "the others still hear")
      },
    ),
    lawCase("Nobody is called back after the store was closed", async (store, lab) => {
      const heard: Hint[] = []
      await store.listen((hint) => heard.push(hint))
      await makeNews(store)
      await store.close()
      const before = heard.length

      await lab.pass(HINT_MS)

      assert.equal(heard.length, before)
    }),
    lawCase("Everything works without anybody listening", async (store) => {
      await makeNews(store)

      const run = await enqueued(store, aRun())
      assert.equal((await claimed(store, run.id)).attempt, 1)
    }),
  ],
}

/** Most hints come within this time. A case that has heard nothing by then shows nothing. */
const HINT_MS = 100
/** A hint may be late, and a busy machine makes it later. */
const PATIENCE_MS = 60_000

/** Whether it holds, at the latest when that much time has passed. */
async function passUntil(lab: Lab, holds: () => boolean, withinMs: number): Promise<boolean> {
  for (let passedMs = 0; passedMs < withinMs && !holds(); passedMs += MOMENT_MS) await lab.pass(MOMENT_MS)
  return holds()
}

/** One of everything that is worth a hint. */
async function makeNews(store: Store): Promise<void> {
  const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
  await store.fire([aPlan(schedule, { runs: [aRun()] })])
  const run = await running(store, aRun())
  await store.transition([cancel(run, { reason: null, by: null })!])
  await store.putDocument(aDocument(), null)
}
