import { defineSchedule } from "../../core/definition.ts"
import type { ScheduleOptions } from "../../core/options.ts"
import type { ScheduleChanges } from "../../scheduler/schedule-options.ts"
import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { CreateOptions } from "../../scheduler/schedules.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { Call } from "../command.ts"
import { confirm } from "../confirm.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import { allSchedules } from "../lookups.ts"
import { hint, type Shown, showAll } from "../output.ts"
import { progressOf } from "../progress.ts"
import { Refusal } from "../refusal.ts"
import { type FileEntry, readScheduleFiles } from "../schedule-files.ts"
import { withScheduler } from "../session.ts"
import type { Colour } from "../table.ts"
import { definitionOf, differences, leanOptions } from "../view-definition.ts"

/** What has to happen to one schedule so that it is what the files say. */
export interface Step {
  readonly key: string
  readonly action: "create" | "change" | "same" | "delete" | "left alone"
  readonly fields: readonly string[]
  readonly why: string
  readonly entry: FileEntry["entry"] | null
  readonly stored: ScheduleView | null
}

export async function applyFiles(call: Call): Promise<ExitCode | undefined> {
  const { flags } = call
  const entries = await readScheduleFiles(call, flags.list("file"))
  const isDry = flags.isOn("dryRun")
  return withScheduler(
    call,
    async ({ scheduler }) => {
      const steps = await planApply(call, scheduler, entries)
      const deleted = steps.filter(({ action }) => action === "delete")
      if (deleted.length > 0 && !isDry)
        await confirm(
          call,
          `Delete ${deleted
            .map(({ key }) => key)
            .slice(0, 10)
            .join(", ")}?`,
          deleted.length,
        )
      if (!isDry) await perform(call, scheduler, steps)
      await showAll(call, steps, stepRows(flags.isOn("diff")))
      hint(call, isDry ? `${summaryOf(steps)}. Nothing was changed.` : `${summaryOf(steps)}. Done.`)
      return undefined
    },
    { mayCreate: !isDry },
  )
}

export async function diffFiles(call: Call): Promise<ExitCode | undefined> {
  const entries = await readScheduleFiles(call, call.flags.list("file"))
  return withScheduler(call, async ({ scheduler }) => {
    const steps = await planApply(call, scheduler, entries)
    const different = steps.filter(({ action }) => action !== "same")
    await showAll(call, different, { ...stepRows(call.flags.isOn("diff")), none: "Nothing differs." })
    return different.length === 0 ? EXIT.done : EXIT.failed
  })
}

/** Everything is read and checked before anything is changed. */
async function planApply(
  call: Call,
  scheduler: Scheduler,
  entries: readonly FileEntry[],
): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const { entry } of entries) steps.push(stepFor(entry, await scheduler.schedules.get(entry.id)))
  if (!call.flags.isOn("prune")) return steps
  const tag = call.flags.required("tag", "Say which schedules --prune may delete: -l TAG")
  const named = new Set(steps.map(({ key }) => key))
  for (const stored of await allSchedules(scheduler, { tag }))
    if (stored.owner === null && !named.has(stored.id))
      steps.push({ key: stored.id, action: "delete", fields: [], why: "in no file", entry: null, stored })
  return steps
}

export function stepFor(entry: FileEntry["entry"], stored: ScheduleView | null): Step {
  const { id, task, payload = null, ...options } = entry
  const about = { key: id, fields: [], why: "", entry, stored }
  const wanted = defineSchedule(options, { id, task, payload, owner: null, release: 0, now: null })
  if (stored === null) return { ...about, action: "create" }
  if (stored.owner !== null)
    return { ...about, action: "left alone", why: `declared by the code of "${stored.owner}"` }
  const fields = differences(definitionOf(stored), wanted)
  if (fields.includes("task"))
    throw new Refusal(
      EXIT.conflict,
      `Schedule "${id}" runs task "${stored.task}"; the file says "${task}". The task of a schedule can't be changed.`,
      `Delete it first: belfry schedule delete ${id}`,
    )
  return { ...about, action: fields.length === 0 ? "same" : "change", fields }
}

async function perform(call: Call, scheduler: Scheduler, steps: readonly Step[]): Promise<void> {
  const progress = progressOf(call, "apply")
  for (const [index, step] of dependenciesFirst(steps).entries()) {
    if (step.action === "create") await create(scheduler, step)
    if (step.action === "change") await changeTo(scheduler, step)
    if (step.action === "delete") await scheduler.schedules.delete(step.key)
    progress(index + 1, steps.length)
  }
}

/** A schedule can't be created before those it depends on, whatever their order in the files. */
function dependenciesFirst(steps: readonly Step[]): readonly Step[] {
  const left = new Map(steps.map((step) => [step.key, step]))
  const ordered: Step[] = []
  const take = (step: Step) => {
    if (!left.delete(step.key)) return
    for (const { schedule } of step.entry?.dependsOn ?? []) {
      const needed = left.get(schedule)
      if (needed !== undefined) take(needed)
    }
    ordered.push(step)
  }
  for (const step of steps) take(step)
  return ordered
}

async function create(scheduler: Scheduler, { key, entry }: Step): Promise<void> {
  const { id: _id, ...options } = entry!
  await scheduler.schedules.create(key, options as CreateOptions<unknown>)
}

/** What is stored and not in the file goes: the file is the whole of it. */
export async function changeTo(scheduler: Scheduler, { key, entry, stored }: Step): Promise<void> {
  const { id: _id, task: _task, payload = null, ...options } = entry!
  const before = leanOptions(definitionOf(stored!)) as ScheduleOptions & Record<string, unknown>
  const gone = Object.keys(before).filter((option) => !(option in options))
  const changes = { ...Object.fromEntries(gone.map((option) => [option, null])), ...options, payload }
  await scheduler.schedules.update(key, changes as ScheduleChanges, { ifRevision: stored!.revision })
}

const COLOURS: Readonly<Record<Step["action"], Colour | null>> = {
  create: "green",
  change: "yellow",
  same: "dim",
  delete: "red",
  "left alone": "dim",
}

function stepRows(withValues: boolean): Shown<Step> {
  return {
    columns: [
      { header: "KEY", text: ({ key }) => key, paint: () => "bold" },
      { header: "ACTION", text: ({ action }) => action, paint: ({ action }) => COLOURS[action] },
      {
        header: "WHAT",
        text: (step) =>
          step.fields.length > 0 ? (withValues ? valuesOf(step) : step.fields.join(", ")) : step.why,
      },
    ],
    nameOf: ({ key }) => key,
    record: (step) => {
      const { key, action, fields, why } = step
      const values = withValues ? { values: changedValues(step) } : {}
      return { key, action, fields, why: why === "" ? null : why, ...values }
    },
    none: "The files hold no schedules.",
  }
}

interface ChangedValue {
  readonly option: string
  readonly from: unknown
  readonly to: unknown
}

/** By option, as files say them; what isn't there is null. */
function changedValues({ stored, entry, action }: Step): readonly ChangedValue[] {
  if (action !== "change") return []
  const before = { ...leanOptions(definitionOf(stored!)), payload: stored!.payload } as Record<
    string,
    unknown
  >
  const { id: _id, task: _task, payload = null, ...options } = entry!
  const { id, task } = stored!
  const wanted = defineSchedule(options, { id, task, payload, owner: null, release: 0, now: null })
  const after = { ...leanOptions(wanted), payload } as Record<string, unknown>
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((option) => ({ option, from: before[option] ?? null, to: after[option] ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
}

function valuesOf(step: Step): string {
  return changedValues(step)
    .map(({ option, from, to }) => `${option}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
    .join(", ")
}

function summaryOf(steps: readonly Step[]): string {
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length
  return `${count("create")} created, ${count("change")} changed, ${count("same")} the same, ${count("delete")} deleted, ${count("left alone")} left alone`
}
