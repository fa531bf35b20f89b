import type { Client } from "../../scheduler/client.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { instantFlag, timeIn } from "../parsing/definition-flags.ts"
import { hint, showAll } from "../printing/output.ts"
import { scheduleRows } from "../printing/schedule-rows.ts"
import { bothWords } from "../printing/time-text.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { becauseOf } from "./schedule-steer.ts"

/** Skips, moves or restores one future occurrence. */

export function skipOccurrence(call: Call): Promise<undefined> {
  return onOccurrence(call, async (scheduler, schedule) => {
    const at = givenTime(call, schedule) ?? (await nextTime(scheduler, schedule))
    return {
      words: `skip ${wordsOf(call, schedule, at)}`,
      perform: () => scheduler.schedules.skip(schedule.id, at, becauseOf(call)),
    }
  })
}

export function moveOccurrence(call: Call): Promise<undefined> {
  return onOccurrence(call, async (scheduler, schedule) => {
    call.flags.required("to", "Give the new time: --to '2026-12-24 05:00' or --to +2h")
    const to = instantFlag(call, "to", schedule.timezone)!
    const at = givenTime(call, schedule) ?? (await nextTime(scheduler, schedule))
    return {
      words: `move ${wordsOf(call, schedule, at)} to ${wordsOf(call, schedule, to)}`,
      perform: () => scheduler.schedules.move(schedule.id, at, to, becauseOf(call)),
    }
  })
}

export function restoreOccurrence(call: Call): Promise<undefined> {
  return onOccurrence(call, async (scheduler, schedule) => {
    const first = schedule.overrides
      .map(({ scheduledFor }) => scheduledFor)
      .sort((a, b) => a.getTime() - b.getTime())[0]
    const at = givenTime(call, schedule) ?? first
    if (at === undefined)
      throw new CliError(
        EXIT.notFound,
        `No occurrence of "${schedule.id}" was skipped or moved.`,
        `See: belfry schedule next ${schedule.id}`,
      )
    return {
      words: `restore ${wordsOf(call, schedule, at)}`,
      perform: () => scheduler.schedules.restore(schedule.id, at, becauseOf(call)),
    }
  })
}

interface OccurrenceChange {
  /** `skip Sun 29 Mar 03:00 (+02:00)`. */
  readonly words: string
  perform(): Promise<ScheduleView>
}

async function onOccurrence(
  call: Call,
  plan: (scheduler: Client, schedule: ScheduleView) => Promise<OccurrenceChange>,
): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const schedule = await scheduleOf(scheduler, call.args[0]!)
    const { words, perform } = await plan(scheduler, schedule)
    const view = await perform()
    if (call.flags.isOn("dryRun")) return hint(call, `${schedule.id}: would ${words}. Nothing was changed.`)
    hint(call, `${schedule.id}: ${words}. Done.`)
    await showAll(call, [view], scheduleRows(call))
  })
  return undefined
}

function givenTime(call: Call, { timezone }: ScheduleView): Date | null {
  const text = call.args[1]
  return text === undefined ? null : timeIn(call, text, "The occurrence", timezone)
}

async function nextTime(scheduler: Client, { id }: ScheduleView): Promise<Date> {
  const next = (await scheduler.schedules.preview(id, 100)).find(({ isSkipped }) => !isSkipped)
  if (next !== undefined) return next.scheduledFor
  throw new CliError(EXIT.conflict, `"${id}" has no future occurrence.`, `See: belfry schedule get ${id}`)
}

function wordsOf({ io }: Call, { timezone }: ScheduleView, at: Date): string {
  return bothWords(at.getTime(), { own: timezone, viewer: io.zone }, io.clock.now())
}
