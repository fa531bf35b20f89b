import { BelfryError } from "../../core/errors.ts"
import { checked } from "../../core/options/checked.ts"
import type { Run } from "../../core/run/run.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"
import { accepted } from "../../store/unstorable.ts"
import type { AnyTask } from "../../task/task.ts"
import { findSchedule } from "../schedules/change-schedule.ts"
import type { ChangeReason } from "../schedules/steering-options.ts"
import { TRIGGER_NOW_OPTIONS, triggerNow } from "../schedules/trigger.ts"
import { RETRY, requireRun, wrongState } from "./change-runs.ts"
import { newRunFor } from "./enqueue.ts"
import { sourceOf } from "./run-options.ts"

/** The payload of a run never changes. So a retry with another payload is a new run for the same occurrence. */
export async function retryWithPayload(
  parts: { store: Store; clock: Clock; tasks: ReadonlyMap<string, AnyTask> },
  id: string,
  payload: unknown,
  because: ChangeReason,
): Promise<Run> {
  const run = await requireRun(parts.store, id)
  if (!RETRY.from.includes(run.state)) throw wrongState(run, RETRY.past)
  const reason = because.reason ?? `Instead of ${run.id}`
  const { outcome, runId } = await createRun(parts, run, payload, { ...because, reason })
  if (outcome === "created") return requireRun(parts.store, runId)
  throw new BelfryError(
    "BELFRY_RUN_HELD",
    `Run "${id}" can't be ${RETRY.past}: run ${runId} has not finished.`,
    {
      details: { id, holder: runId },
    },
  )
}

async function createRun(
  parts: Parameters<typeof retryWithPayload>[0],
  { task, scheduleId, scheduledFor }: Run,
  payload: unknown,
  because: { reason: string; by?: string },
): Promise<{ outcome: string; runId: string }> {
  const { store, clock, tasks } = parts
  if (scheduleId !== null && (await findSchedule(store, scheduleId)) !== null) {
    const runId = `${scheduleId}+${clock.newId()}`
    const options = { ...because, payload, ...(scheduledFor === null ? {} : { asOf: scheduledFor }) }
    const given = checked(options, TRIGGER_NOW_OPTIONS, sourceOf("retry"))
    return triggerNow(store, { scheduleId, runId, tasks }, given)
  }
  const by = because.by === undefined ? {} : { by: because.by }
  const run = await newRunFor(task, { options: { payload, ...by }, clock, tasks })
  return accepted((await store.enqueue([{ ...run, reason: because.reason }]))[0]!)
}
