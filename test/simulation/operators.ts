import { BelfryError } from "../../src/core/errors.ts"
import { MINUTE } from "../../src/core/time/instant.ts"
import type { Scheduler } from "../../src/scheduler/scheduler.ts"
import type { Chance } from "./chance.ts"
import { BY_HAND, SCHEDULE_IDS } from "./code.ts"

/** One random step of an operator. Refusals and simulated faults are expected and ignored. */
export async function operatorStep(
  scheduler: Scheduler,
  chance: Chance,
  now: number,
  note: (situation: string) => void,
): Promise<void> {
  const id = chance.pick(SCHEDULE_IDS)
  const { schedules, runs } = scheduler
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    pause: () => schedules.pause(id, { reason: "simulated", by: "operator" }),
    pauseUntil: () => schedules.pause(id, { until: now + chance.between(1, 60) * MINUTE }),
    resume: () => schedules.resume(id),
    trigger: () => schedules.trigger(id),
    skip: () => schedules.skip(id),
    async move() {
      const [next] = await schedules.preview(id, 1)
      if (next)
        await schedules.move(
          id,
          next.scheduledFor,
          next.scheduledFor.getTime() + chance.between(-2, 2) * MINUTE,
        )
    },
    reschedule: () => schedules.reschedule(id, now + chance.between(1, 45) * MINUTE),
    async edit() {
      const schedule = await schedules.get(id)
      if (schedule === null) return
      const cron = chance.pick(["* * * * *", "*/2 * * * *", "*/5 * * * *", "7 * * * *"])
      const rewritten = chance.pick([{ cron }, { jitter: "3m" as const }])
      const changes = chance.happens(0.8) ? { payload: { edited: now } } : rewritten
      await schedules.update(id, changes, { ifRevision: schedule.revision })
    },
    async recreate() {
      const recreated = chance.pick(["strict", "replaced"])
      if (chance.happens(0.5)) await schedules.reschedule(recreated, now + chance.between(10, 45) * MINUTE)
      await schedules.delete(recreated)
      await schedules.create(recreated, BY_HAND[recreated]!(now))
    },
    async backfill() {
      const plan = await schedules.planBackfill(id, {
        from: now - 60 * MINUTE,
        until: now - MINUTE,
        which: "all",
        name: `b${now}`,
      })
      await schedules.backfill(plan)
    },
    async cancel() {
      const [run] = (await runs.list({ state: ["pending", "running"], limit: 1 })).items
      if (run) await runs.cancel(run.id, { by: "operator" })
    },
    async retry() {
      const [run] = (await runs.list({ state: ["failed", "cancelled"], limit: 1 })).items
      if (run) await runs.retry(run.id)
    },
    async release() {
      const [run] = (await runs.list({ state: "running", limit: 1 })).items
      if (run) await runs.release(run.id)
    },
    enqueue: () =>
      scheduler.enqueue("quick", {
        payload: { by: "operator" },
        delay: "30s",
        key: `k${chance.between(1, 3)}`,
      }),
  }
  const step = chance.happens(0.25) ? "edit" : chance.pick(Object.keys(steps))
  try {
    await steps[step]!()
    note(`operator: ${step}`)
  } catch (error) {
    const isExpected = error instanceof BelfryError || (error as Error).message.startsWith("simulated")
    if (!isExpected) throw error
  }
}
