import type { Scheduler } from "../scheduler/scheduler.ts"
import type { CreateOptions } from "../scheduler/steering-options.ts"
import type { ScheduleView } from "../scheduler/views.ts"

/** A schedule that is paused from its first moment: disabled until the pause is there, so that nothing slips through. */
export async function createPaused(
  scheduler: Scheduler,
  key: string,
  options: CreateOptions<unknown>,
  by: string,
): Promise<ScheduleView> {
  const { revision } = await scheduler.schedules.create(key, { ...options, enabled: false })
  await scheduler.schedules.pause(key, { by, reason: "Created paused" })
  return scheduler.schedules.update(key, { enabled: true }, { ifRevision: revision })
}
