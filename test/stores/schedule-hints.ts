import type { Hint, Store } from "belfry/store"
import { expect, test } from "vitest"
import { succeed } from "../../src/core/run/run.ts"
import { progressOf } from "../../src/core/schedule/schedule.ts"
import { aClaim, anEntry, aPlan, aRun, aRunOf, aSchedule, aSkip } from "../../src/store/laws/factories.ts"
import { created, deleteSchedule, running, several } from "../../src/store/laws/steps.ts"

export interface HintLab {
  readonly writer: Store
  /** Returns the hints that another process got since the last call, once there are some. */
  receivedHints(): Promise<readonly Hint[]>
}

/**
 * Law 11 allows a store to send no hints. Belfry's own stores send these: the fall-back relies on them to learn of a pause
 * within seconds, and `wait` to learn of ends.
 */
export function proveScheduleHints(open: () => Promise<HintLab>): void {
  test("another process gets a hint when a schedule is created, changed by an operator, or deleted", async () => {
    const { writer, receivedHints } = await open()

    const schedule = await created(writer, aSchedule({ nextRunAt: Date.now() + 3_600_000 }))
    expect(await receivedHints()).toContain("schedules")
    // Like a pause: the schedule is never due.
    const progress = { ...progressOf(schedule), nextRunAt: null }
    expect(await writer.fire([aPlan(schedule, { progress, entry: anEntry() })])).toEqual([
      { outcome: "done", created: [] },
    ])
    expect(await receivedHints()).toContain("schedules")
    const [paused] = await writer.findSchedules({}, { orderBy: "id", after: null, limit: 1 })
    expect(await deleteSchedule(writer, paused!)).toMatchObject({ outcome: "done" })
    expect(await receivedHints()).toContain("schedules")
  })

  test("another process gets no hint of new runs when a fire only records a skip", async () => {
    const { writer, receivedHints } = await open()
    const schedule = await created(writer, aSchedule({ nextRunAt: Date.now() + 3_600_000 }))
    await receivedHints()

    await writer.fire([aPlan(schedule, { runs: [aSkip({ ...aRunOf(schedule.id), state: "skipped" })] })])
    await created(writer, aSchedule({ nextRunAt: Date.now() + 3_600_000 }))

    const received: Hint[] = []
    while (!received.includes("schedules")) received.push(...(await receivedHints()))
    expect(received).not.toContain("runs")
  })

  test("another process gets a hint when runs have ended, and only a few for a hundred ends", async () => {
    const { writer, receivedHints } = await open()
    const one = await running(writer, aRun())
    await receivedHints()
    await writer.transition([succeed(one, NOTHING)])
    while (!(await receivedHints()).includes("ended"));
    await writer.enqueue(several(100, () => aRun()))
    const { runs } = await writer.claim(aClaim({ limit: 100 }))
    expect(runs.length).toBe(100)
    const began = performance.now()
    for (const run of runs) await writer.transition([succeed(run, NOTHING)])
    const heard: Hint[] = []
    while (!heard.includes("ended")) heard.push(...(await receivedHints()))
    const times = heard.filter((hint) => hint === "ended").length

    // SQLite's listeners check the file ten times a second.
    expect(times).toBeLessThanOrEqual(5 + (performance.now() - began) / 100)
  })
}

const NOTHING = { message: null, details: null }
