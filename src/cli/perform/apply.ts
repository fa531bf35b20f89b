import type { ScheduleOptions } from "../../core/options.ts"
import { silentLogger } from "../../runtime/logger.ts"
import { dryStore } from "../../scheduler/dry-store.ts"
import { createScheduler, type Scheduler } from "../../scheduler/scheduler.ts"
import type { ScheduleChanges } from "../../scheduler/schedules/schedule-options.ts"
import type { CreateOptions } from "../../scheduler/schedules/steering-options.ts"
import { planApply, type Step, stepRows, summaryOf, type Tried } from "../applying/apply-plan.ts"
import { definitionOf, leanOptions } from "../applying/view-definition.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import { readScheduleFiles } from "../files/schedule-files.ts"
import type { Call } from "../parsing/command.ts"
import { hint, showAll } from "../printing/output.ts"
import { progressOf } from "../printing/progress.ts"
import { problemOf } from "../refusal.ts"
import { type Session, withScheduler } from "../session/session.ts"
import { confirm } from "../terminal/confirm.ts"

export async function applyFiles(call: Call): Promise<ExitCode | undefined> {
  const { flags } = call
  const entries = await readScheduleFiles(call, flags.list("file"))
  return withScheduler(
    call,
    async (session) => {
      const steps = await planApply(call, session, entries)
      const rehearsed = await rehearse(session, steps)
      if (rehearsed.exit !== undefined || flags.isOn("dryRun")) {
        await showAll(call, rehearsed.tried, stepRows(flags.isOn("diff")))
        hint(call, `${summaryOf(rehearsed.tried)}. Nothing was changed.`)
        return rehearsed.exit
      }
      const deleted = steps.filter(({ action }) => action === "delete").map(({ key }) => key)
      if (deleted.length > 0)
        await confirm(call, `Delete ${deleted.slice(0, 10).join(", ")}?`, deleted.length)
      const { tried, exit } = await perform(session.scheduler, steps, progressOf(call, "apply"))
      await showAll(call, tried, stepRows(flags.isOn("diff")))
      hint(
        call,
        `${summaryOf(tried)}. ${exit === undefined ? "Done." : "What was done stays. Correct the rest and repeat."}`,
      )
      return exit
    },
    { mayCreate: true },
  )
}

/** Everything is tried without changing anything first: what would be refused half-way through keeps the rest from being done. */
function rehearse({ store, tasks }: Session, steps: readonly Step[]): Promise<Performed> {
  const scheduler = createScheduler({ store: dryStore(store), tasks, logger: silentLogger })
  return perform(scheduler, steps, () => undefined)
}

export async function diffFiles(call: Call): Promise<ExitCode | undefined> {
  const entries = await readScheduleFiles(call, call.flags.list("file"))
  return withScheduler(call, async (session) => {
    const steps = await planApply(call, session, entries)
    const different = steps.filter(({ action }) => action !== "same")
    await showAll(call, different, { ...stepRows(call.flags.isOn("diff")), none: "Nothing differs." })
    return different.length === 0 ? EXIT.done : EXIT.failed
  })
}

interface Performed {
  readonly tried: readonly Tried[]
  readonly exit: ExitCode | undefined
}

/** A step that fails doesn't keep the others, unless the store is away. The exit code is that of the first failure. */
async function perform(
  scheduler: Scheduler,
  steps: readonly Step[],
  progress: ReturnType<typeof progressOf>,
): Promise<Performed> {
  const tried: Tried[] = []
  let exit: ExitCode | undefined
  let isAway = false
  for (const [index, step] of dependenciesFirst(steps).entries()) {
    if (isAway)
      tried.push(step.action === "same" ? step : { ...step, action: "not done", why: "the store is away" })
    else {
      try {
        await take(scheduler, step)
        tried.push(step)
      } catch (error) {
        const problem = problemOf(error)
        exit ??= problem.exit
        isAway = problem.exit === EXIT.unavailable
        tried.push({ ...step, action: "failed", why: `${step.action}: ${problem.message}` })
      }
    }
    progress(index + 1, steps.length)
  }
  return { tried, exit }
}

async function take(scheduler: Scheduler, step: Step): Promise<void> {
  if (step.action === "create") await create(scheduler, step)
  if (step.action === "change") await changeTo(scheduler, step)
  if (step.action === "delete") await scheduler.schedules.delete(step.key)
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
