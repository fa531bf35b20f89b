import { formatDuration } from "../../core/time/duration.ts"
import type { Client } from "../../scheduler/client.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import { type Fact, formatFacts } from "../printing/facts.ts"
import { ledgerRows } from "../printing/ledger-rows.ts"
import { formatOf, isStructured, isTable, paintOf, showAll, showRecord } from "../printing/output.ts"
import { scheduleRows } from "../printing/schedule-rows.ts"
import { formatTable } from "../printing/table.ts"
import { bothWords, distanceWords } from "../printing/time-text.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"

export async function getSchedules(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const schedules: ScheduleView[] = []
    for (const id of call.args) schedules.push(await scheduleOf(scheduler, id))
    const format = formatOf(call)
    if (isTable(format)) for (const schedule of schedules) await describe(call, scheduler, schedule)
    else if (schedules.length === 1 && isStructured(format)) await showRecord(call, schedules[0], format)
    else await showAll(call, schedules, scheduleRows(call))
  })
}

async function describe(call: Call, scheduler: Client, schedule: ScheduleView): Promise<void> {
  const { io } = call
  const paint = paintOf(call)
  const now = io.clock.now()
  const zones = { own: schedule.timezone, viewer: io.zone }
  const when = (date: Date) =>
    `${bothWords(date.getTime(), zones, now)}, ${distanceWords(date.getTime(), now)}`
  const counts = await scheduler.runs.count({ schedule: schedule.id })
  const history = Object.entries(counts).flatMap(([state, count]) => (count === 0 ? [] : `${count} ${state}`))
  const isPlannable = schedule.lastError === null
  const facts: readonly Fact[] = [
    // A broken schedule may have an invalid date or zone.
    ...factsOf(schedule, isPlannable ? when : (date) => date.toJSON() ?? "no date"),
    ["Problem", schedule.problems.map(({ message }) => message).join(" ")],
    ["History", history.join(", ")],
  ]
  io.out(formatFacts(facts, paint))
  const preview = isPlannable ? await scheduler.schedules.preview(schedule.id, 5) : []
  if (preview.length > 0) {
    io.out(`\n${paint("bold", "Next")}\n`)
    for (const { dueAt, isSkipped } of preview) io.out(`  ${when(dueAt)}${isSkipped ? "  skipped" : ""}\n`)
  }
  const { items: entries } = await scheduler.schedules.occurrences(schedule.id, { limit: 5 })
  if (entries.length === 0) return
  io.out(`\n${paint("bold", "Last")}\n`)
  const { columns } = ledgerRows(call, schedule)
  // With headers: without one, nobody knows that a duration is the lateness.
  io.out(formatTable(entries, columns, { width: io.columns(), paint, hasHeaders: true, indent: "  " }))
}

function factsOf(schedule: ScheduleView, when: (date: Date) => string): readonly Fact[] {
  const { paused, catchUp, overlap, retry } = schedule
  return [
    ["Id", schedule.id],
    ["State", paused === null ? schedule.state : pauseWords(paused, when)],
    ["Task", schedule.task],
    ["When", `${schedule.words} (${schedule.when})`],
    ["Zone", schedule.timezone],
    ["Description", schedule.description],
    ["Tags", schedule.tags.join(", ")],
    ["Payload", schedule.payload === null ? "" : JSON.stringify(schedule.payload)],
    ["Overlap", overlap.policy === "queue" ? `queue, at most ${overlap.limit} waiting` : overlap.policy],
    ["Concurrency", schedule.maxConcurrentRuns === null ? "" : `at most ${schedule.maxConcurrentRuns} runs`],
    ["Catch-up", catchUpWords(catchUp)],
    ["Depends on", schedule.dependsOn.map(dependencyWords).join(", ")],
    ["Priority", schedule.priority === 0 ? "" : String(schedule.priority)],
    ["Clock changes", hasCron(schedule) ? `gap: ${schedule.dst.gap}, overlap: ${schedule.dst.overlap}` : ""],
    ["Timeout", schedule.timeoutMs === null ? "" : formatDuration(schedule.timeoutMs)],
    [
      "Attempts",
      retry === null ? "" : `${retry.attempts}, ${retry.backoff} from ${formatDuration(retry.baseMs)}`,
    ],
    ["Spacing", schedule.spacingMs === 0 ? "" : `at least ${formatDuration(schedule.spacingMs)}`],
    ["Jitter", schedule.jitterMs === 0 ? "" : formatDuration(schedule.jitterMs)],
    ["Starts", schedule.startsAt === null ? "" : when(schedule.startsAt)],
    ["Ends", schedule.endsAt === null ? "" : when(schedule.endsAt)],
    ["Runs", runsText(schedule)],
    ["When finished", schedule.removeWhenFinished ? "is removed" : ""],
    ["Owner", ownerWords(schedule)],
    ["Revision", `${schedule.revision}, changed ${when(schedule.updatedAt)}`],
  ]
}

function catchUpWords({ policy, graceMs, windowMs, limit }: ScheduleView["catchUp"]): string {
  const grace = `(up to ${formatDuration(graceMs)} late counts as on time)`
  if (policy === "none") return `none ${grace}`
  return policy === "once"
    ? `once ${grace}`
    : `all, at most ${limit} of the last ${formatDuration(windowMs)} ${grace}`
}

function dependencyWords({ scheduleId, withinMs }: ScheduleView["dependsOn"][number]): string {
  return `${scheduleId} within ${formatDuration(withinMs)}`
}

/** `maxRuns` limits only the runs of occurrences; `runCount` also counts manual and backfilled runs. */
function runsText({ runCount, firedCount, maxRuns }: ScheduleView): string {
  return maxRuns === null ? `${runCount}` : `${runCount} (${firedCount} of ${maxRuns} occurrences)`
}

function hasCron({ triggers }: ScheduleView): boolean {
  return triggers.some(({ kind }) => kind === "cron")
}

function pauseWords(paused: NonNullable<ScheduleView["paused"]>, when: (date: Date) => string): string {
  const until = paused.until === null ? "" : ` until ${when(paused.until)}`
  const by = paused.by === null ? "" : ` by ${paused.by}`
  return `paused${until}${by}${paused.reason === null ? "" : `: ${paused.reason}`} (since ${when(paused.at)})`
}

function ownerWords({ owner, isOverridden }: ScheduleView): string {
  if (owner === null) return "created by hand"
  return `declared in code (owner ${owner})${isOverridden ? ", changed by hand since" : ""}`
}
