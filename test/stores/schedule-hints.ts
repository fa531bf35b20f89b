import type { Hint, Store } from "belfry/store"
import { expect, test } from "vitest"
import { progressOf } from "../../src/core/plan.ts"
import { anEntry, aPlan, aSchedule } from "../../src/store/laws/factories.ts"
import { created, deleteSchedule } from "../../src/store/laws/steps.ts"

export interface HintLab {
  readonly writer: Store
  /** What another process has heard since it was last asked, once it has heard something. */
  hears(): Promise<readonly Hint[]>
}

/** The law allows a store to be silent. Ours aren't: the fall-back relies on these to know of a pause within seconds. */
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
}
