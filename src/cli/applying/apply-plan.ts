import { defineSchedule } from "../../core/definition.ts"
import { cyclesIn } from "../../core/dependency-cycles.ts"
import { BelfryError } from "../../core/errors.ts"
import type { Scheduler } from "../../scheduler/scheduler.ts"
import { cycleRefusal, dependenciesFrom } from "../../scheduler/schedules/dependencies.ts"
import { checkStoredPayload, examinePayload } from "../../scheduler/schedules/payload-check.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { Store } from "../../store/store.ts"
import { EXIT } from "../exit-codes.ts"
import type { FileEntry } from "../files/schedule-files.ts"
import type { Call } from "../parsing/command.ts"
import { type ChangedValue, changedValues, changeWords } from "../printing/changed-values.ts"
import type { Shown } from "../printing/output.ts"
import type { Colour } from "../printing/table.ts"
import { Refusal } from "../refusal.ts"
import { allSchedules } from "../session/lookups.ts"
import { byName, type Session } from "../session/session.ts"
import { definitionOf, differences } from "./view-definition.ts"

/** What has to happen to one schedule so that it is what the files say. */
export interface Step {
  readonly key: string
  readonly action: "create" | "change" | "same" | "delete" | "left alone"
  /** The options that differ, with their values. */
  readonly changes: readonly ChangedValue[]
  readonly why: string
  readonly entry: FileEntry["entry"] | null
  readonly stored: ScheduleView | null
}

/** A step after it was tried. */
export interface Tried extends Omit<Step, "action"> {
  readonly action: Step["action"] | "failed" | "not done"
}

/** Everything is read and checked before anything is changed. */
export async function planApply(
  call: Call,
  { scheduler, store, tasks }: Session,
  entries: readonly FileEntry[],
): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const { entry } of entries) {
    const step = stepFor(entry, await scheduler.schedules.get(entry.id))
    // What is stored already stays, also if its task takes no payload any more.
    const isGiven = step.action === "create" || step.action === "change"
    const check = isGiven ? examinePayload : checkStoredPayload
    await check(byName(tasks), entry.task, entry.payload).catch((error: unknown) => {
      throw ofSchedule(entry.id, error)
    })
    steps.push(step)
  }
  await checkCycles(store, entries)
  return call.flags.isOn("prune") ? [...steps, ...(await pruneSteps(call, scheduler, steps))] : steps
}

/** A file has many, and the error of a payload knows only its task. */
function ofSchedule(id: string, error: unknown): unknown {
  if (!(error instanceof BelfryError)) return error
  const { code, details, message } = error
  return new BelfryError(code, `Schedule "${id}": ${message}`, { details: { ...details, id }, cause: error })
}

/** Each by itself, the schedules of a cycle would be told to be created after one another. */
async function checkCycles(store: Store, entries: readonly FileEntry[]): Promise<void> {
  const wanted = new Map(
    entries.map(({ entry }) => [entry.id, (entry.dependsOn ?? []).map(({ schedule }) => schedule)]),
  )
  const cycles = cyclesIn(await dependenciesFrom(store, wanted))
  const own = cycles.find((cycle) => cycle.some((id) => wanted.has(id)))
  if (own !== undefined) throw cycleRefusal(own)
}

async function pruneSteps(
  call: Call,
  scheduler: Scheduler,
  steps: readonly Step[],
): Promise<readonly Step[]> {
  const tag = call.flags.required("tag", "Say which schedules --prune may delete: -l TAG")
  const named = new Set(steps.map(({ key }) => key))
  const stray = (await allSchedules(scheduler, { tag })).filter(
    ({ id, owner }) => owner === null && !named.has(id),
  )
  return stray.map((stored) => ({
    ...{ key: stored.id, action: "delete", changes: [], why: "in no file", entry: null, stored },
  }))
}

export function stepFor(entry: FileEntry["entry"], stored: ScheduleView | null): Step {
  const { id, task, payload = null, ...options } = entry
  const about = { key: id, changes: [], why: "", entry, stored }
  const wanted = defineSchedule(options, { id, task, payload, owner: null, release: 0, now: null })
  if (stored === null) return { ...about, action: "create" }
  const fields = differences(definitionOf(stored), wanted)
  if (stored.owner !== null && fields.length > 0)
    return { ...about, action: "left alone", why: `declared in code (owner ${stored.owner})` }
  if (fields.includes("task"))
    throw new Refusal(
      EXIT.conflict,
      `Schedule "${id}" runs task "${stored.task}"; the file says "${task}". The task of a schedule can't be changed.`,
      `Delete it first: belfry schedule delete ${id}`,
    )
  if (fields.length === 0) return { ...about, action: "same" }
  return { ...about, action: "change", changes: changedValues(definitionOf(stored), wanted) }
}

const COLOURS: Readonly<Record<Tried["action"], Colour | null>> = {
  create: "green",
  change: "yellow",
  same: "dim",
  delete: "red",
  "left alone": "dim",
  failed: "red",
  "not done": "yellow",
}

export function stepRows(withValues: boolean): Shown<Tried> {
  return {
    columns: [
      { header: "KEY", text: ({ key }) => key, paint: () => "bold", isId: true },
      { header: "ACTION", text: ({ action }) => action, paint: ({ action }) => COLOURS[action] },
      {
        header: "WHAT",
        below: "whole",
        text: (step) =>
          step.why === "" ? (withValues ? valuesOf(step) : optionsOf(step).join(", ")) : step.why,
      },
    ],
    nameOf: ({ key }) => key,
    record: (step) => {
      const { key, action, changes, why } = step
      const values = withValues ? { values: changes } : {}
      return { key, action, fields: optionsOf(step), why: why === "" ? null : why, ...values }
    },
    none: "The files hold no schedules.",
  }
}

function optionsOf({ changes }: Tried): readonly string[] {
  return changes.map(({ option }) => option)
}

function valuesOf(step: Tried): string {
  return step.changes.map(changeWords).join(", ")
}

export function summaryOf(steps: readonly Tried[]): string {
  const count = (action: Tried["action"]) => steps.filter((step) => step.action === action).length
  const [failed, notDone] = [count("failed"), count("not done")]
  return [
    `${count("create")} created, ${count("change")} changed, ${count("same")} the same, ${count("delete")} deleted, ${count("left alone")} left alone`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(notDone === 0 ? [] : [`${notDone} not done`]),
  ].join(", ")
}
