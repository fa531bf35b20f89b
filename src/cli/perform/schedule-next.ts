import { parseCron } from "../../core/cron/parse.ts"
import type { OccurrenceView } from "../../scheduler/schedules/preview.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { printLints } from "../checks/lints.ts"
import type { Call } from "../parsing/command.ts"
import { calendarText } from "../printing/calendar-text.ts"
import { clockNote } from "../printing/clock-notes.ts"
import { type NextRow, nextRows } from "../printing/occurrence-rows.ts"
import { hint, isForPeople, showAll } from "../printing/output.ts"
import { wallWords } from "../printing/time-text.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"

export async function nextOfSchedule(call: Call): Promise<undefined> {
  const { flags, io } = call
  const limit = flags.whole("limit", { max: 1_000 }) ?? 10
  await withScheduler(call, async ({ scheduler }) => {
    const schedule = await scheduleOf(scheduler, call.args[0]!)
    const { timezone, words } = schedule
    const found = await scheduler.schedules.preview(schedule.id, limit)
    const now = io.clock.now()
    const rows = found.map((occurrence, index) => ({
      number: index + 1,
      at: occurrence.dueAt,
      note: noteOf(schedule, occurrence, found[index - 1] ?? null, now),
    }))
    if (flags.isOn("ics")) {
      const kept = rows.filter((_, index) => !found[index]!.isSkipped)
      return io.out(calendarText(kept, { name: schedule.id, words: `${words} (${timezone})`, now }))
    }
    if (isForPeople(call)) {
      hint(call, `${words} · ${timezone}${timezone === io.zone ? "" : ` · your zone ${io.zone}`}\n`)
      if (schedule.paused !== null && schedule.paused.until === null)
        hint(call, "The schedule is paused. These occurrences fire only after it is resumed.\n")
    }
    await showAll<NextRow>(call, rows, {
      ...nextRows(timezone, io.zone, now),
      record: ({ number, note }) => ({ ...found[number - 1], note: note === "" ? null : note }),
    })
    printLints(call, await scheduler.schedules.lints(schedule.id))
  })
  return undefined
}

/** A skip or a move by an operator takes precedence over a note about clock changes. */
function noteOf(
  schedule: ScheduleView,
  { scheduledFor, dueAt, isSkipped }: OccurrenceView,
  previous: OccurrenceView | null,
  now: number,
): string {
  const at = scheduledFor.getTime()
  const override = schedule.overrides.find((each) => each.scheduledFor.getTime() === at)
  const why = override?.reason === null || override?.reason === undefined ? "" : `: ${override.reason}`
  if (isSkipped) return `skipped${why}`
  if (override !== undefined) return `moved from ${wallWords(at, schedule.timezone, now)}${why}`
  const [only, ...more] = schedule.triggers
  if (only?.kind === "cron" && more.length === 0) {
    const { timezone, dst, id } = schedule
    const cron = parseCron(only.cron, { timezone, dst, dayMatch: only.dayMatch, seed: id })
    const note = clockNote(cron, at, previous?.scheduledFor.getTime() ?? null)
    if (note !== "") return note
  }
  return dueAt.getTime() === at ? "" : `with jitter, scheduled for ${wallWords(at, schedule.timezone, now)}`
}
