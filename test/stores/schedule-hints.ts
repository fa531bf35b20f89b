import type { Hint, Store } from "belfry/store"
import { expect, test } from "vitest"
import { progressOf } from "../../src/core/plan.ts"
import { succeed } from "../../src/core/run.ts"
import { aClaim, anEntry, aPlan, aRun, aSchedule } from "../../src/store/laws/factories.ts"
import { created, deleteSchedule, running, several } from "../../src/store/laws/steps.ts"

export interface HintLab {
  readonly writer: Store
  /** What another process has heard since it was last asked, once it has heard something. */
  hears(): Promise<readonly Hint[]>
}

/** The law allows a store to be silent. Ours aren't: the fall-back relies on these to know of a pause within seconds, waits on ends. */
export function proveScheduleHints(open: () => Promise<HintLab>): void {
  test("another process hears of a schedule's creation, of an operator's step, and of its deletion", async () => {
    const { writer, hears } = await open()

    const schedule = await created(writer, aSchedule({ nextRunAt: Date.now() + 3_600_000 }))
    expect(await hears()).toContain("schedules")
    // As a pause does: the schedule is due never.
    const progress = { ...progressOf(schedule), nextRunAt: null }
    expect(await writer.fire([aPlan(schedule, { progress, entry: anEntry() })])).toEqual([
      { outcome: "done", created: [] },
    ])
    expect(await hears()).toContain("schedules")
    const [paused] = await writer.findSchedules({}, { orderBy: "id", after: null, limit: 1 })
    expect(await deleteSchedule(writer, paused!)).toMatchObject({ outcome: "done" })
    expect(await hears()).toContain("schedules")
  })

  test("another process hears that runs have ended, and of a hundred ends only a few times", async () => {
    const { writer, hears } = await open()
    const one = await running(writer, aRun())
    await hears()
    await writer.transition([succeed(one, NOTHING)])
    while (!(await hears()).includes("ended"));
    await writer.enqueue(several(100, () => aRun()))
    const { runs } = await writer.claim(aClaim({ limit: 100 }))
    expect(runs.length).toBe(100)
    const began = performance.now()
    for (const run of runs) await writer.transition([succeed(run, NOTHING)])
    const heard: Hint[] = []
    while (!heard.includes("ended")) heard.push(...(await hears()))
    const times = heard.filter((hint) => hint === "ended").length

    // SQLite's listeners look ten times a second, and tell of their own at once.
    expect(times).toBeLessThanOrEqual(5 + (performance.now() - began) / 100)
  })
}

const NOTHING = { message: null, details: null }
