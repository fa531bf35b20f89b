import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { RunView } from "../../scheduler/views.ts"
import type { Call } from "../command.ts"
import { confirm } from "../confirm.ts"
import { runOf } from "../lookups.ts"
import { hint, nextStep, showAll } from "../output.ts"
import { runRows } from "../run-rows.ts"
import { withScheduler } from "../session.ts"
import { becauseOf } from "./schedule-steer.ts"

export function retryRuns(call: Call): Promise<undefined> {
  return steerEach(call, "retry", (scheduler, { id }) => scheduler.runs.retry(id, becauseOf(call)))
}

export function cancelRuns(call: Call): Promise<undefined> {
  return steerEach(call, "cancel", (scheduler, { id }) => scheduler.runs.cancel(id, becauseOf(call)))
}

export function releaseRuns(call: Call): Promise<undefined> {
  return steerEach(call, "release", (scheduler, { id }) => scheduler.runs.release(id, becauseOf(call)))
}

/** All are looked up first: a wrong id changes nothing. */
async function steerEach(
  call: Call,
  verb: string,
  steer: (scheduler: Scheduler, run: RunView) => Promise<RunView>,
): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const runs: RunView[] = []
    for (const id of call.args) runs.push(await runOf(scheduler, id))
    const isDry = call.flags.isOn("dryRun")
    if (isDry)
      hint(
        call,
        `Would ${verb} ${runs.length === 1 ? "this one" : `these ${runs.length}`}. Nothing was changed.`,
      )
    else if (runs.length > 1)
      await confirm(call, `${verb[0]!.toUpperCase()}${verb.slice(1)} ${runs.length} runs?`, runs.length)
    const steered: RunView[] = []
    for (const run of runs) steered.push(isDry ? run : await steer(scheduler, run))
    await showAll(call, steered, runRows(call))
    if (!isDry && verb === "retry") nextStep(call, `Follow it: belfry run watch ${steered[0]!.id}`)
  })
  return undefined
}
