import assert from "node:assert/strict"
import { cancel } from "../../core/run/run.ts"
import type { Hint, Store } from "../store.ts"
import { aDocument, aPlan, aRun, aSchedule, DISTINCT_MS } from "./factories.ts"
import { type Lab, type Law, lawCase } from "./law.ts"
import { claimed, created, enqueued, running } from "./steps.ts"

const HINTS: readonly Hint[] = ["schedules", "runs", "cancelled", "documents", "ended"]

/** A store that never sends hints keeps this law. A store that sends hints after a listener stopped breaks it. */
export const HINTS_LAW: Law = {
  number: 11,
  name: "Hints",
  statement: "Hints may be late, repeated or missing. Only speed depends on them.",
  cases: [
    lawCase("A hint is one of the values of the contract", async (store, lab) => {
      const heard: string[] = []
      const stop = await store.listen((hint) => heard.push(hint))

      await causeHints(store)
      await lab.pass(HINT_MS)
      await stop()

      for (const hint of heard) assert.ok(HINTS.includes(hint as Hint), `"${hint}" is a hint`)
    }),
    lawCase("A listener that stopped is not called any more", async (store, lab) => {
      const heard: Hint[] = []
      const stop = await store.listen((hint) => heard.push(hint))
      await causeHints(store)
      await stop()
      const before = heard.length

      await causeHints(store)
      await lab.pass(HINT_MS)

      assert.equal(heard.length, before)
    }),
    lawCase("Stopping one listener doesn't stop another, even with the same callback", async (store, lab) => {
      const heard: Hint[] = []
      const onHint = (hint: Hint) => heard.push(hint)
      const stops = [await store.listen(onHint), await store.listen(onHint)]
      const getsHint = async (withinMs: number) => {
        const before = heard.length
        await causeHints(store)
        return passUntil(lab, () => heard.length > before, withinMs)
      }
      // A store that can't listen may hint once when it begins, however late. Only a store that hints three times isn't silent.
      const isSilent = !(await getsHint(HINT_MS)) || !(await getsHint(HINT_MS)) || !(await getsHint(HINT_MS))
      await stops[0]!()

      // A store that sent no hints to both listeners needn't send any now.
      assert.ok(isSilent || (await getsHint(PATIENCE_MS)), "the other listener still gets hints")
      await stops[1]!()
    }),
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

        await causeHints(store)
        const run = await enqueued(store, aRun())
        await passUntil(lab, () => before.length > 0, HINT_MS)
        // A store that sent no hints to the first listener needn't send any to the last.
        const isHeard = before.length === 0 || (await passUntil(lab, () => after.length > 0, PATIENCE_MS))
        for (const stop of stops) await stop()

        assert.equal((await claimed(store, run.id)).attempt, 1)
        assert.ok(isHeard, "the other listeners still get hints")
      },
    ),
    lawCase("No listener is called after the store was closed", async (store, lab) => {
      const heard: Hint[] = []
      await store.listen((hint) => heard.push(hint))
      await causeHints(store)
      await store.close()
      const before = heard.length

      await lab.pass(HINT_MS)

      assert.equal(heard.length, before)
    }),
    lawCase("The store works without listeners", async (store) => {
      await causeHints(store)

      const run = await enqueued(store, aRun())
      assert.equal((await claimed(store, run.id)).attempt, 1)
    }),
  ],
}

/** Most hints arrive within this time. If none has arrived by then, the case counts the store as silent. */
const HINT_MS = 100
/** A hint may be late, and a busy machine makes it later. */
const PATIENCE_MS = 60_000

/** Returns as soon as the condition holds, or after that much time, whether it holds. */
async function passUntil(lab: Lab, holds: () => boolean, withinMs: number): Promise<boolean> {
  for (let passedMs = 0; passedMs < withinMs && !holds(); passedMs += DISTINCT_MS) await lab.pass(DISTINCT_MS)
  return holds()
}

/** Makes one write for each kind of hint. */
async function causeHints(store: Store): Promise<void> {
  const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
  await store.fire([aPlan(schedule, { runs: [aRun()] })])
  const run = await running(store, aRun())
  await store.transition([cancel(run, { reason: null, by: null })!])
  await store.putDocument(aDocument(), null)
}
