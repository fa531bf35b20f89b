import { type Check, ok, problem, warning } from "../../core/check.ts"
import { cycleInWords, cyclesIn, idsDependedOn } from "../../core/dependency-cycles.ts"
import { firedAhead } from "../../core/fired-ahead.ts"
import { isActive } from "../../core/schedule-state.ts"
import type { Overview } from "../../scheduler/overview.ts"
import type { ScheduleView, WorkerView } from "../../scheduler/views.ts"
import { commandWord } from "../printing/printable.ts"
import { spanWords } from "../printing/time-words.ts"
import { isOnline } from "../printing/worker-rows.ts"
import { nearestTo } from "../session/lookups.ts"
import { lintsOf } from "./lints.ts"
import { sortedOut } from "./schedule-problem.ts"

export function checkSchedules(
  schedules: readonly ScheduleView[],
  now: number,
  ignored: ReadonlySet<string> = new Set(),
): readonly Check[] {
  const { sound, broken } = sortedOut(schedules)
  const active = sound.filter(({ state }) => isActive(state))
  const overdue = sound.filter(({ state }) => state === "overdue")
  const overridden = sound.filter(({ isOverridden }) => isOverridden)
  return [
    ok("schedules", `${schedules.length}, of which ${active.length} active`),
    overdue.length === 0
      ? ok("overdue", "no schedule is overdue")
      : problem(
          "overdue",
          `${namesOf(overdue)} should have fired, but no process fires schedules`,
          "Start one: belfry start",
        ),
    ...brokenChecks(broken),
    dependencyCheck(sound, schedules),
    cycleCheck(sound),
    clockCheck(active, now),
    overridden.length === 0
      ? ok("overrides", "no schedule of code was changed by hand")
      : warning(
          "overrides",
          `${namesOf(overridden)} ${overridden.length === 1 ? "differs" : "differ"} from what code declares`,
          "See: belfry schedule list --status overridden",
        ),
    lintCheck(active, now, ignored),
  ]
}

function clockCheck(schedules: readonly ScheduleView[], now: number): Check {
  const ahead = firedAhead(schedules, now)
  if (ahead.length === 0) return ok("clock set back", "no schedule has fired ahead of the store's clock")
  const [first] = ahead
  const next =
    first!.nextRunAt === null ? "" : `; ${first!.id} is next due at ${first!.nextRunAt.toISOString()}`
  return problem(
    "clock set back",
    `${namesOf(ahead)} fired ahead of the store's clock: nothing more fires until the clock has caught up${next}`,
    `Keep the clock of the store's host right. What must not wait: belfry schedule trigger ${commandWord(first!.id)}`,
  )
}

/** Each by its name: what is wrong with one says nothing about the others. */
function brokenChecks(broken: ReturnType<typeof sortedOut>["broken"]): readonly Check[] {
  if (broken.length === 0) return [ok("broken", "every schedule can be planned")]
  return broken.map(({ id, problem: why, unread }) =>
    problem("broken", `${id} can't be planned: ${why}`, mendingWords(id, unread)),
  )
}

function mendingWords(id: string, unread: readonly string[]): string {
  // Names that somebody wrote by SQL may be anything; a command is given only where it can be pasted.
  if (unread.length === 0 || !unread.every((name) => /^[\w-]+$/.test(name)))
    return `Correct it: belfry schedule set ${commandWord(id)}`
  const unset = unread.map((name) => `--unset ${name}`).join(" ")
  return `Take away what can't be read, or give it another value: belfry schedule set ${commandWord(id)} ${unset}`
}

/** Such a schedule waits for a success that can't come. */
function dependencyCheck(schedules: readonly ScheduleView[], all: readonly ScheduleView[]): Check {
  const ids = new Set(all.map(({ id }) => id))
  const missing = schedules.flatMap(({ id, dependsOn }) =>
    dependsOn.filter(({ scheduleId }) => !ids.has(scheduleId)).map(({ scheduleId }) => ({ id, scheduleId })),
  )
  const [first] = missing
  if (first === undefined) return ok("dependencies", "each schedule that another depends on exists")
  const more = missing.length === 1 ? "" : `, and ${missing.length - 1} more`
  return problem(
    "dependencies",
    `${first.id} depends on ${first.scheduleId}, which doesn't exist${more}`,
    `Create it, or take it away: belfry schedule set ${commandWord(first.id)} --unset depends-on`,
  )
}

/** By SQL and by two hands at once, schedules can be made to wait for one another. */
function cycleCheck(schedules: readonly ScheduleView[]): Check {
  const cycles = cyclesIn(new Map(schedules.map((schedule) => [schedule.id, idsDependedOn(schedule)])))
  const [first] = cycles
  if (first === undefined) return ok("cycles", "no schedules wait for one another")
  const more = cycles.length === 1 ? "" : `, and ${cycles.length - 1} more`
  return problem(
    "cycles",
    `${cycleInWords(first)} wait for one another and never fire${more}`,
    `Break it: belfry schedule set ${commandWord(first[0]!)} --unset depends-on`,
  )
}

function lintCheck(schedules: readonly ScheduleView[], now: number, ignored: ReadonlySet<string>): Check {
  const codes = new Set<string>()
  const odd = schedules.filter((schedule) => {
    const lints = lintsOf(schedule, now).filter(
      ({ severity, code }) => severity !== "info" && !ignored.has(code),
    )
    for (const { code } of lints) codes.add(code)
    return lints.length > 0
  })
  if (odd.length === 0) return ok("lints", "no expression is odd")
  const found = [...codes].sort()
  return warning(
    "lints",
    `${namesOf(odd)} may not do what was meant (${found.join(", ")})`,
    `See: belfry schedule next ${commandWord(odd[0]!.id)}. If it is meant: belfry doctor --ignore ${found.join(",")}`,
  )
}

export function checkWorkers(
  workers: readonly WorkerView[],
  schedules: readonly ScheduleView[],
): readonly Check[] {
  const silent = workers.filter((worker) => !isOnline(worker))
  const online = workers.filter(isOnline)
  const offered = new Set(online.flatMap(({ tasks }) => tasks))
  const orphaned = schedules.filter(({ state, task }) => isActive(state) && !offered.has(task))
  return [
    online.length === 0
      ? warning("workers", "none is online: nothing performs runs", "Start one: belfry start")
      : ok(
          "workers",
          `${online.length} online, ${sumOf(online, ({ running }) => running)} of ${sumOf(online, ({ slots }) => slots)} slots in use`,
        ),
    silent.length === 0
      ? ok("silent workers", "none")
      : warning(
          "silent workers",
          `${silent.length}, such as ${silent[0]!.id}: silent for ${spanWords(silent[0]!.silentForMs!)}`,
          "What it held is taken over when its lease ends. If it is gone for good it is forgotten after a day.",
        ),
    orphaned.length === 0
      ? ok("tasks", "each has a worker")
      : problem("tasks", `no worker offers ${orphanedWords(orphaned)}`, orphanedRemedy(orphaned, offered)),
  ]
}

function orphanedWords(orphaned: readonly ScheduleView[]): string {
  const tasks = [...new Set(orphaned.map(({ task }) => task))]
  const words = tasks
    .slice(0, 5)
    .map((task) => `${task} (schedule ${namesOf(orphaned.filter((schedule) => schedule.task === task))})`)
  return tasks.length > 5 ? `${words.join(", ")} and ${tasks.length - 5} more` : words.join(", ")
}

function orphanedRemedy([first]: readonly ScheduleView[], offered: ReadonlySet<string>): string {
  const near = nearestTo(first!.task, [...offered])
  const start = "Start a worker whose configuration has it."
  return near === null ? start : `Did you mean ${near}? Else: ${start}`
}

export function checkRuns({ runs, attention }: Overview): readonly Check[] {
  const { stuck, waiting } = attention
  return [
    ok("runs", `${runs.pending} pending, ${runs.running} running, ${runs.failed} failed in the history`),
    stuck.length === 0
      ? ok("stuck runs", "none")
      : problem(
          "stuck runs",
          `${countWords(stuck)} whose lease has ended and that no worker takes over, such as ${stuck[0]!.id}`,
          "Start a worker for its task.",
        ),
    waiting.length === 0
      ? ok("waiting runs", "none waits for long")
      : warning(
          "waiting runs",
          `${countWords(waiting)} due for more than 5 min, such as ${waiting.at(-1)!.id}`,
          "Start a worker for its task, or raise --concurrency.",
        ),
  ]
}

/** An overview names ten at most. */
function countWords(some: readonly unknown[]): string {
  return some.length < 10 ? String(some.length) : "10 or more"
}

function namesOf(schedules: readonly ScheduleView[]): string {
  const names = schedules.slice(0, 3).map(({ id }) => id)
  return schedules.length > 3 ? `${names.join(", ")} and ${schedules.length - 3} more` : names.join(", ")
}

function sumOf<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0)
}
