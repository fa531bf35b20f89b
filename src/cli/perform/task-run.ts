import { offeredTasks } from "../../scheduler/online-workers.ts"
import { CliError } from "../cli-error.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { instantFlag, payloadFrom, priorityFrom } from "../parsing/definition-flags.ts"
import { hint, nextStep, showAll } from "../printing/output.ts"
import { runRows } from "../printing/run-rows.ts"
import { allWorkers } from "../printing/worker-rows.ts"
import { withScheduler } from "../session/session.ts"
import { followRun } from "./run-wait.ts"

/** Creates one run of a task, without a schedule. */
export async function runTask(call: Call): Promise<ExitCode | undefined> {
  const { flags, io } = call
  const name = call.args[0]!
  const payload = await payloadFrom(call)
  const [id, key, delay, priority] = [
    flags.text("id"),
    flags.text("key"),
    flags.duration("delay"),
    priorityFrom(call),
  ]
  const at = instantFlag(call, "at", io.zone)
  return withScheduler(call, async ({ scheduler, tasks }) => {
    const isConfigured = tasks.some((task) => task.name === name)
    if (!isConfigured && !offeredTasks(await allWorkers(scheduler)).has(name))
      hint(call, `No worker offers "${name}" now. The run waits until one does.`)
    const { outcome, runId } = await scheduler.enqueue(name, {
      payload: payload,
      by: flags.text("by") ?? io.user,
      ...(id === undefined ? {} : { id }),
      ...(key === undefined ? {} : { key }),
      ...(delay === undefined ? {} : { delay }),
      ...(at === undefined ? {} : { at }),
      ...(priority === undefined ? {} : { priority }),
    })
    if (outcome === "held")
      throw new CliError(
        EXIT.conflict,
        `No run was created: run ${runId} has the key "${key}" and has not finished.`,
        `Wait for that run: belfry run wait ${runId}`,
      )
    if (outcome === "exists") hint(call, `A run with this id already exists. No new run was created.`)
    if (flags.isOn("dryRun") && outcome === "created") {
      hint(call, `Would run ${name} with ${JSON.stringify(payload ?? null)}. Nothing was changed.`)
      return undefined
    }
    if (flags.isOn("wait") || flags.isOn("follow"))
      return followRun(call, scheduler, runId, { isQuiet: !flags.isOn("follow") })
    const run = await scheduler.runs.get(runId)
    await showAll(call, run === null ? [] : [run], runRows(call))
    nextStep(call, `Follow the run: belfry run watch ${runId}`)
    return undefined
  })
}
