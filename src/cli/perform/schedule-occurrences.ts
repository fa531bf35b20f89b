import type { RunState } from "../../core/run.ts"
import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { LedgerEntry } from "../../scheduler/schedules/ledger.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import { ledgerRows } from "../printing/ledger-rows.ts"
import { hint, showAll } from "../printing/output.ts"
import { commandWord } from "../printing/printable.ts"
import { statusOf } from "../printing/schedule-rows.ts"
import { spanWords } from "../printing/time-words.ts"
import { allWorkers, isOnline } from "../printing/worker-rows.ts"
import { collected } from "../session/collected.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"

const OUTCOMES = ["pending", "running", "succeeded", "failed", "cancelled", "skipped"] as const

export async function showOccurrences(call: Call): Promise<undefined> {
  const limit = call.flags.whole("limit", { max: 10_000 }) ?? 20
  const outcome = call.flags.choice("outcome", OUTCOMES)
  await withScheduler(call, async ({ scheduler }) => {
    const schedule = await scheduleOf(scheduler, call.args[0]!)
    const entries = await readEntries(scheduler, schedule.id, { limit, outcome })
    await showAll(call, entries, ledgerRows(call, schedule))
    if (call.io.isOutTerminal) for (const line of await whyQuiet(call, scheduler, schedule)) hint(call, line)
  })
  return undefined
}

/** How far back it looks for a rare outcome. */
const SEARCHED_MAX = 10_000

async function readEntries(
  scheduler: Scheduler,
  id: string,
  { limit, outcome }: { limit: number; outcome: RunState | undefined },
): Promise<readonly LedgerEntry[]> {
  const { schedules } = scheduler
  if (outcome === undefined)
    return collected(schedules.occurrences(id, { limit: Math.min(limit, 1_000) }), limit)
  const searched = await collected(schedules.occurrences(id, { limit: 1_000 }), SEARCHED_MAX)
  return searched.filter((entry) => entry.outcome === outcome).slice(0, limit)
}

/** If nothing comes of it at present: why. */
async function whyQuiet(
  { io }: Call,
  scheduler: Scheduler,
  schedule: ScheduleView,
): Promise<readonly string[]> {
  const status = statusOf(schedule)
  const lines: string[] = []
  if (status === "paused")
    lines.push(
      `It is paused${schedule.paused!.reason === null ? "" : `: ${schedule.paused!.reason}`}. Go on with: belfry schedule resume ${commandWord(schedule.id)}`,
    )
  if (status === "disabled")
    lines.push(`It is disabled. Go on with: belfry schedule set ${commandWord(schedule.id)} --enabled`)
  if (status === "broken") lines.push(`It can't be planned: ${schedule.lastError}`)
  if (status === "finished") lines.push("It is finished: nothing more will come.")
  const lateMs = schedule.nextRunAt === null ? 0 : io.clock.now() - schedule.nextRunAt.getTime()
  if (status === "active" && lateMs > 60_000)
    lines.push(`It was due ${spanWords(lateMs)} ago and has not been fired: is \`belfry start\` running?`)
  const workers = await allWorkers(scheduler)
  if (!workers.some((worker) => isOnline(worker) && worker.tasks.includes(schedule.task)))
    lines.push(`No worker offers its task "${schedule.task}" now: runs wait until one does.`)
  return lines
}
