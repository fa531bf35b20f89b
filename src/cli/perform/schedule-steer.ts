import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { instantFlag } from "../parsing/definition-flags.ts"
import { hint, showAll } from "../printing/output.ts"
import { printable } from "../printing/printable.ts"
import { scheduleRows } from "../printing/schedule-rows.ts"
import { Refusal } from "../refusal.ts"
import { allSchedules, scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { confirm } from "../terminal/confirm.ts"

export function pauseSchedules(call: Call): Promise<undefined> {
  return steerEach(call, "pause", async (scheduler, { id, timezone }) => {
    const until = instantFlag(call, "until", timezone)
    return scheduler.schedules.pause(id, { ...becauseOf(call), ...(until === undefined ? {} : { until }) })
  })
}

export function resumeSchedules(call: Call): Promise<undefined> {
  return steerEach(call, "resume", (scheduler, { id }) => scheduler.schedules.resume(id, becauseOf(call)))
}

export async function deleteSchedules(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const schedules = await namedSchedules(call, scheduler)
    const keys = schedules.map(({ id }) => id)
    if (call.flags.isOn("dryRun")) return hint(call, `Would delete ${keys.join(", ")}. Nothing was changed.`)
    const owned = schedules.filter(({ owner }) => owner !== null)
    for (const { id, owner } of owned)
      hint(call, `${id} is declared in code (owner ${owner}): it comes back when that program starts again.`)
    await confirm(
      call,
      `Delete ${keys.length === 1 ? keys[0] : `${keys.length} schedules`}? Runs stay.`,
      keys.length,
    )
    for (const key of keys)
      if (await scheduler.schedules.delete(key, becauseOf(call))) call.io.out(`${printable(key)}\n`)
    hint(call, `Deleted ${keys.length === 1 ? keys[0] : `${keys.length} schedules`}.`)
  })
  return undefined
}

async function steerEach(
  call: Call,
  verb: "pause" | "resume",
  steer: (scheduler: Scheduler, schedule: ScheduleView) => Promise<ScheduleView>,
): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const named = await namedSchedules(call, scheduler)
    // By tag or all: what isn't paused has nothing to be resumed from. What was named is shown in any case.
    const isEach = verb === "pause" || call.args.length > 0
    const schedules = isEach ? named : named.filter(({ paused }) => paused !== null)
    const isDry = call.flags.isOn("dryRun")
    if (schedules.length > 100 && !isDry)
      await confirm(
        call,
        `${verb === "pause" ? "Pause" : "Resume"} ${schedules.length} schedules?`,
        schedules.length,
      )
    const steered: ScheduleView[] = []
    for (const schedule of schedules) steered.push(await steer(scheduler, schedule))
    if (isDry)
      hint(
        call,
        `Would ${verb} ${schedules.length === 1 ? "this one" : `these ${schedules.length}`}. Nothing was changed.`,
      )
    await showAll(
      call,
      steered,
      scheduleRows(call, isEach ? "No schedule is like that." : "No such schedule is paused."),
    )
  })
  return undefined
}

/** By key, by tag, or all: one of these has to be said. */
async function namedSchedules(call: Call, scheduler: Scheduler): Promise<readonly ScheduleView[]> {
  const { args, flags } = call
  const tag = flags.text("tag")
  if (args.length === 0 && tag !== undefined) return allSchedules(scheduler, { tag })
  if (args.length === 0 && flags.isOn("all")) return allSchedules(scheduler)
  if (args.length === 0)
    throw new Refusal(EXIT.usage, "No schedule was named.", "Name keys, or say -l TAG or --all.")
  const found: ScheduleView[] = []
  for (const key of args) found.push(await scheduleOf(scheduler, key))
  return found
}

/** Why and who, for the record. */
export function becauseOf({ flags, io }: Call): { reason?: string; by: string } {
  const reason = flags.text("reason")
  return { by: flags.text("by") ?? io.user, ...(reason === undefined ? {} : { reason }) }
}
