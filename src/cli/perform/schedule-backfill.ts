import type { BackfillPlan } from "../../scheduler/schedules/backfill.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { instantFlag } from "../parsing/definition-flags.ts"
import { hint, isForPeople, nextStep, type RowFormat, showAll } from "../printing/output.ts"
import { progressOf } from "../printing/progress.ts"
import { bothWords, isoOrDash } from "../printing/time-text.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { confirm } from "../terminal/confirm.ts"

export async function backfillSchedule(call: Call): Promise<undefined> {
  const { flags, io } = call
  flags.required("from", "Give the start: --from -7d, or --from 2026-03-01")
  const which = whichOf(call)
  await withScheduler(call, async ({ scheduler }) => {
    const schedule = await scheduleOf(scheduler, call.args[0]!)
    const name = flags.text("name")
    const plan = await scheduler.schedules.planBackfill(schedule.id, {
      from: instantFlag(call, "from", schedule.timezone)!,
      until: instantFlag(call, "to", schedule.timezone) ?? new Date(io.clock.now()),
      which,
      ...(name === undefined ? {} : { name }),
    })
    const count = plan.occurrences.length
    const others = which === "failed" ? "did not fail or were already backfilled" : "already have a run"
    const leftOut = plan.leftOut === 0 ? "" : ` ${plan.leftOut} ${others}.`
    hint(call, `${schedule.id}: ${count} occurrence${count === 1 ? "" : "s"} to backfill.${leftOut}`)
    checkMax(count, flags.whole("max"))
    if (flags.isOn("dryRun") || count === 0)
      return showAll(call, plan.occurrences, occurrenceRows(call, schedule))
    if (isForPeople(call)) showFirstAndLast(call, plan, schedule)
    await confirm(call, `Create ${count} runs of ${schedule.id}?`, count)
    const progress = progressOf(call, "backfill")
    const created = await scheduler.schedules.backfill(plan, {
      concurrency: flags.whole("concurrency", { max: 10_000 }) ?? 1,
      by: flags.text("by") ?? io.user,
      onProgress: progress,
    })
    await showAll(call, created, {
      columns: [{ header: "RUN", isId: true, text: (id) => id }],
      nameOf: (id) => id,
      none: "No run was created.",
    })
    nextStep(call, `Show the runs: belfry run list --schedule ${schedule.id}`)
  })
  return undefined
}

const CHOICES = ["missing", "failed", "all"] as const

function whichOf({ flags }: Call): (typeof CHOICES)[number] {
  const [which = "missing", another] = CHOICES.filter((choice) => flags.isOn(choice))
  if (another === undefined) return which
  throw new CliError(EXIT.usage, `--${which} and --${another} exclude each other.`, "Use only one of them.")
}

function checkMax(count: number, max: number | undefined): void {
  if (max !== undefined && count > max)
    throw new CliError(
      EXIT.conflict,
      `The backfill has ${count} occurrences; --max allows ${max}.`,
      "Narrow the range, or raise --max.",
    )
}

function showFirstAndLast(call: Call, { occurrences }: BackfillPlan, { timezone }: ScheduleView): void {
  const words = (at: Date) =>
    bothWords(at.getTime(), { own: timezone, viewer: call.io.zone }, call.io.clock.now())
  const [first, last] = [occurrences[0]!, occurrences[occurrences.length - 1]!]
  hint(call, first === last ? `  ${words(first)}` : `  from ${words(first)}\n  to   ${words(last)}`)
}

function occurrenceRows(call: Call, { timezone }: ScheduleView): RowFormat<Date> {
  const now = call.io.clock.now()
  const brief = (at: Date) => bothWords(at.getTime(), { own: timezone, viewer: call.io.zone }, now)
  return {
    columns: [{ header: "SCHEDULED FOR", text: isoOrDash, brief }],
    nameOf: isoOrDash,
    none: "Nothing to do.",
  }
}
