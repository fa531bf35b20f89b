import type { Json } from "../../core/values/json.ts"
import type { TriggerNowOptions } from "../../scheduler/schedules/trigger.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { instantFlag, payloadFrom, priorityFrom } from "../parsing/definition-flags.ts"
import { hint, nextStep, showAll } from "../printing/output.ts"
import { runRows } from "../printing/run-rows.ts"
import { isoOrDash } from "../printing/time-text.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { followRun } from "./run-wait.ts"
import { becauseOf } from "./schedule-steer.ts"

export async function triggerSchedule(call: Call): Promise<ExitCode | undefined> {
  const { flags } = call
  return withScheduler(call, async ({ scheduler }) => {
    const schedule = await scheduleOf(scheduler, call.args[0]!)
    const payload = await payloadOf(call, schedule)
    const options = optionsOf(call, schedule, payload)
    const { outcome, runId } = await scheduler.schedules.trigger(schedule.id, options)
    if (outcome === "skipped")
      throw new CliError(
        EXIT.conflict,
        `"${schedule.id}" was not triggered: its run ${runId} has not finished, ${whyNot(options.overlap ?? schedule.overlap.policy)}.`,
        `Wait for it (belfry run wait ${runId}), cancel it (belfry run cancel ${runId}), or add --overlap allow.`,
      )
    if (flags.isOn("dryRun")) {
      hint(
        call,
        `Would run ${schedule.id} now${asOfWords(options.asOf)} with ${JSON.stringify(payload ?? schedule.payload)}. Nothing was changed.`,
      )
      return undefined
    }
    const isWaiting = flags.isOn("wait") || flags.isOn("follow")
    const run = await scheduler.runs.get(runId)
    if (!isWaiting) {
      await showAll(call, run === null ? [] : [run], runRows(call))
      nextStep(call, `Follow the run: belfry run watch ${runId}`)
      return undefined
    }
    return followRun(call, scheduler, runId, { isQuiet: !flags.isOn("follow") })
  })
}

function optionsOf(
  call: Call,
  { timezone }: ScheduleView,
  payload: unknown,
): TriggerNowOptions & { asOf?: Date } {
  const { flags } = call
  const priority = priorityFrom(call)
  const overlap = flags.choice("overlap", ["skip", "queue", "replace", "allow"])
  const asOf = instantFlag(call, "asOf", timezone)
  return {
    ...becauseOf(call),
    insteadOfNext: flags.isOn("insteadOfNext"),
    ...(payload === undefined ? {} : { payload }),
    ...(priority === undefined ? {} : { priority }),
    ...(overlap === undefined ? {} : { overlap }),
    ...(asOf === undefined ? {} : { asOf }),
  }
}

function whyNot(policy: ScheduleView["overlap"]["policy"]): string {
  return policy === "queue" ? "and its queue is full" : "and the overlap policy is skip"
}

function asOfWords(asOf: Date | undefined): string {
  return asOf === undefined ? "" : ` as of ${isoOrDash(asOf)}`
}

/** The given payload, or that of the schedule, with the changes of `--set`. */
async function payloadOf(call: Call, schedule: ScheduleView): Promise<unknown> {
  const given = await payloadFrom(call)
  const sets = call.flags.list("set")
  if (sets.length === 0) return given
  let payload = structuredClone(given === undefined ? schedule.payload : (given as Json))
  for (const set of sets) {
    const [, path, value] = /^([\w.-]+)=(.*)$/s.exec(set) ?? []
    if (path === undefined || value === undefined)
      throw new CliError(
        EXIT.usage,
        `--set ${JSON.stringify(set)} is not of the form path=value.`,
        "Write --set a.b=1",
      )
    payload = withValue(payload, path.split("."), jsonOrText(value))
  }
  return payload
}

function withValue(target: Json, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value
  if (key === "__proto__" || key === "constructor" || key === "prototype")
    throw new CliError(EXIT.usage, `--set can't change "${key}".`)
  const record = isRecord(target) ? target : {}
  return { ...record, [key]: withValue(record[key] ?? null, rest, value) }
}

function isRecord(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** `1` is a number, `true` is a boolean. Everything that is not JSON is text. */
function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    // Not JSON, so it is text.
    return text
  }
}
