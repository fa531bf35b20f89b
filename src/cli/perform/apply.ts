import { BelfryError } from "../../core/errors.ts"
import type { ApplyOptions, ApplyReport, ScheduleToApply } from "../../scheduler/schedules/apply.ts"
import { notTaken } from "../../scheduler/schedules/apply-steps.ts"
import { problemOf } from "../cli-error.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import { readScheduleFiles } from "../files/schedule-files.ts"
import type { Call } from "../parsing/command.ts"
import { applyRows, isTaken, summaryOf } from "../printing/apply-rows.ts"
import { hint, showAll, warn } from "../printing/output.ts"
import { progressOf } from "../printing/progress.ts"
import { withScheduler } from "../session/session.ts"
import { confirm } from "../terminal/confirm.ts"
import { becauseOf } from "./schedule-steer.ts"

export async function applyFiles(call: Call): Promise<ExitCode | undefined> {
  const { flags } = call
  const wanted = await schedulesIn(call)
  const options = optionsOf(call)
  return withScheduler(
    call,
    async ({ scheduler: { schedules } }) => {
      const planned = await schedules.apply(wanted, { ...options, dryRun: true })
      if (exitOf(planned.steps) !== undefined)
        return printReport(call, { ...planned, steps: notTaken(planned.steps) })
      if (flags.isOn("dryRun")) return printReport(call, planned)
      const deleted = planned.steps.filter(({ action }) => action === "delete").map(({ id }) => id)
      if (deleted.length > 0)
        await confirm(call, `Delete ${deleted.slice(0, 10).join(", ")}?`, deleted.length)
      return printReport(
        call,
        await schedules.apply(wanted, { ...options, onProgress: progressOf(call, "apply") }),
      )
    },
    { mayCreate: true },
  )
}

export async function diffFiles(call: Call): Promise<ExitCode | undefined> {
  const wanted = await schedulesIn(call)
  return withScheduler(call, async ({ scheduler }) => {
    const { steps } = await scheduler.schedules.apply(wanted, { ...optionsOf(call), dryRun: true })
    const different = steps.filter(({ action, refused }) => action !== "same" || refused !== null)
    await showAll(call, different, { ...applyRows(call.flags.isOn("diff")), none: "No differences." })
    warnOfRefused(call, steps)
    return exitOf(steps) ?? (different.length === 0 ? EXIT.done : EXIT.failed)
  })
}

async function schedulesIn(call: Call): Promise<readonly ScheduleToApply[]> {
  const entries = await readScheduleFiles(call, call.flags.list("file"))
  return entries.map(({ entry }) => entry as ScheduleToApply)
}

function optionsOf(call: Call): ApplyOptions {
  const { flags } = call
  if (!flags.isOn("prune")) return becauseOf(call)
  const tag = flags.required("tag", "Give the tag of the schedules that --prune may delete: -l TAG")
  return { ...becauseOf(call), prune: { tag } }
}

async function printReport(call: Call, report: ApplyReport): Promise<ExitCode | undefined> {
  const { steps, isDryRun } = report
  const exit = exitOf(steps)
  await showAll(call, steps, applyRows(call.flags.isOn("diff")))
  warnOfRefused(call, steps)
  const done =
    exit === undefined
      ? "Done."
      : "The other changes were made. Correct the failed ones and run the command again."
  hint(call, `${summaryOf(steps)}. ${isDryRun || !steps.some(isTaken) ? "Nothing was changed." : done}`)
  return exit
}

/** Printed to standard error, so that refusals are visible if the rows go to another program. */
function warnOfRefused(call: Call, steps: ApplyReport["steps"]): void {
  for (const { id, refused } of steps) if (refused !== null) warn(call, `${id}: ${refused.message}`)
}

/** The exit code of the first refused step. */
function exitOf(steps: ApplyReport["steps"]): ExitCode | undefined {
  const refused = steps.find((step) => step.refused !== null)?.refused ?? null
  return refused === null ? undefined : problemOf(new BelfryError(refused.code, refused.message)).exit
}
