import { RUN_STATES } from "../../core/run/run-states.ts"
import { formatInstant } from "../../core/time/instant.ts"
import { collected } from "../../scheduler/listing.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import { ledgerRows } from "../printing/ledger-rows.ts"
import { hint, showAll } from "../printing/output.ts"
import { commandWord } from "../printing/printable.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"

export async function showOccurrences(call: Call): Promise<undefined> {
  const limit = call.flags.whole("limit", { max: 10_000 }) ?? 20
  const outcome = call.flags.choice("outcome", RUN_STATES)
  await withScheduler(call, async ({ scheduler }) => {
    const schedule = await scheduleOf(scheduler, call.args[0]!)
    const page = { limit: Math.min(limit, 1_000), ...(outcome === undefined ? {} : { outcome }) }
    const entries = await collected(scheduler.schedules.occurrences(schedule.id, page), limit)
    await showAll(call, entries, ledgerRows(call, schedule))
    if (call.io.isOutTerminal) for (const line of inactiveReasons(schedule)) hint(call, line)
  })
  return undefined
}

/** Why the schedule does not fire at present. Empty: it does. */
function inactiveReasons(schedule: ScheduleView): readonly string[] {
  const { state, paused, problems } = schedule
  const id = commandWord(schedule.id)
  const why = paused?.reason ?? null
  const until = paused?.until ?? null
  const lines: string[] = problems.map(({ message }) => message)
  if (state === "paused")
    lines.unshift(
      `The schedule is paused${until === null ? "" : ` until ${formatInstant(until.getTime())}`}${why === null ? "" : `: ${why}`}. To resume it: belfry schedule resume ${id}`,
    )
  if (state === "disabled")
    lines.unshift(`The schedule is disabled. To enable it: belfry schedule set ${id} --enabled`)
  if (state === "finished") lines.unshift("The schedule is finished and has no further occurrences.")
  return lines
}
