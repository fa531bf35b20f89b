import { withLastRunInFuture } from "../../core/planning/last-run-in-future.ts"
import { cycleInWords, cyclesIn, idsDependedOn } from "../../core/schedule/dependency-cycles.ts"
import { isActive } from "../../core/schedule/schedule-state.ts"
import { isOnline, isWorker, offeredTasks } from "../../scheduler/online-workers.ts"
import type { Overview } from "../../scheduler/overview.ts"
import type { ScheduleLints } from "../../scheduler/schedules/list-lints.ts"
import type { ScheduleView, WorkerView } from "../../scheduler/views.ts"
import { type Check, ok, problem, warning } from "../../store/check.ts"
import { commandWord } from "../printing/printable.ts"
import { spanWords } from "../printing/time-text.ts"
import { nearestTo } from "../session/lookups.ts"
import { splitBroken } from "./schedule-problem.ts"

export function checkSchedules(
  schedules: readonly ScheduleView[],
  about: { now: number; lints: readonly ScheduleLints[]; ignored?: ReadonlySet<string> },
): readonly Check[] {
  const { now, lints, ignored = new Set() } = about
  const { plannable, broken } = splitBroken(schedules)
  const active = plannable.filter(({ state }) => isActive(state))
  const overdue = plannable.filter(({ state }) => state === "overdue")
  const overridden = plannable.filter(({ isOverridden }) => isOverridden)
  return [
    ok("schedules", `${schedules.length}, of which ${active.length} active`),
    overdue.length === 0
      ? ok("overdue", "no schedule is overdue")
      : problem(
          "overdue",
          `${namesOf(overdue)} should have fired, but no process fires schedules`,
          "Start a process: belfry start",
        ),
    ...brokenChecks(broken),
    dependencyCheck(plannable, schedules),
    cycleCheck(plannable),
    clockCheck(active, now),
    overridden.length === 0
      ? ok("overrides", "no schedule declared in code was changed by hand")
      : warning(
          "overrides",
          `${namesOf(overridden)} ${overridden.length === 1 ? "differs" : "differ"} from the declaration in code`,
          "See: belfry schedule list --status overridden",
        ),
    lintCheck(lints, ignored),
  ]
}

function clockCheck(schedules: readonly ScheduleView[], now: number): Check {
  const ahead = withLastRunInFuture(schedules, now)
  if (ahead.length === 0) return ok("clock set back", "no schedule has fired ahead of the store's clock")
  const [first] = ahead
  const next =
    first!.nextRunAt === null ? "" : `; ${first!.id} is next due at ${first!.nextRunAt.toISOString()}`
  return problem(
    "clock set back",
    `${namesOf(ahead)} fired ahead of the store's clock and will not fire until the clock has caught up${next}`,
    `Set the clock of the store's host. To run a schedule without waiting: belfry schedule trigger ${commandWord(first!.id)}`,
  )
}

/** One check per broken schedule, each with its own problem. */
function brokenChecks(broken: ReturnType<typeof splitBroken>["broken"]): readonly Check[] {
  if (broken.length === 0) return [ok("broken", "every schedule can be planned")]
  return broken.map(({ id, problem: why, unread }) =>
    problem("broken", `${id} can't be planned: ${why}`, repairRemedy(id, unread)),
  )
}

function repairRemedy(id: string, unread: readonly string[]): string {
  // Option names written by SQL may contain any characters. A command is given only if it is safe to paste.
  if (unread.length === 0 || !unread.every((name) => /^[\w-]+$/.test(name)))
    return `Correct it: belfry schedule set ${commandWord(id)}`
  const unset = unread.map((name) => `--unset ${name}`).join(" ")
  return `Remove the unreadable options or change their values: belfry schedule set ${commandWord(id)} ${unset}`
}

/** A schedule with a missing dependency is never fired. */
function dependencyCheck(schedules: readonly ScheduleView[], all: readonly ScheduleView[]): Check {
  const ids = new Set(all.map(({ id }) => id))
  const missing = schedules.flatMap(({ id, dependsOn }) =>
    dependsOn.filter(({ scheduleId }) => !ids.has(scheduleId)).map(({ scheduleId }) => ({ id, scheduleId })),
  )
  const [first] = missing
  if (first === undefined) return ok("dependencies", "all dependencies exist")
  const more = missing.length === 1 ? "" : `, and ${missing.length - 1} more`
  return problem(
    "dependencies",
    `${first.id} depends on ${first.scheduleId}, which doesn't exist${more}`,
    `Create it, or remove the dependency: belfry schedule set ${commandWord(first.id)} --unset depends-on`,
  )
}

/** Cycles can be created by SQL, or by two changes at the same time. */
function cycleCheck(schedules: readonly ScheduleView[]): Check {
  const cycles = cyclesIn(new Map(schedules.map((schedule) => [schedule.id, idsDependedOn(schedule)])))
  const [first] = cycles
  if (first === undefined) return ok("cycles", "no schedules depend on each other")
  const more = cycles.length === 1 ? "" : `, and ${cycles.length - 1} more`
  return problem(
    "cycles",
    `${cycleInWords(first)} depend on each other and never fire${more}`,
    `Break the cycle: belfry schedule set ${commandWord(first[0]!)} --unset depends-on`,
  )
}

function lintCheck(linted: readonly ScheduleLints[], ignored: ReadonlySet<string>): Check {
  const codes = new Set<string>()
  const flagged = linted.filter(({ lints }) => {
    const counted = lints.filter(({ severity, code }) => severity !== "info" && !ignored.has(code))
    for (const { code } of counted) codes.add(code)
    return counted.length > 0
  })
  if (flagged.length === 0) return ok("lints", "no likely mistakes in the schedules")
  const found = [...codes].sort()
  return warning(
    "lints",
    `${namesOf(flagged)} may contain mistakes (${found.join(", ")})`,
    `See: belfry schedule next ${commandWord(flagged[0]!.id)}. To ignore: belfry doctor --ignore ${found.join(",")}`,
  )
}

export function checkWorkers(
  processes: readonly WorkerView[],
  schedules: readonly ScheduleView[],
): readonly Check[] {
  const silent = processes.filter((process) => !isOnline(process))
  const online = processes.filter(isOnline).filter(isWorker)
  const offered = offeredTasks(processes)
  const unoffered = schedules.filter(({ state, task }) => isActive(state) && !offered.has(task))
  return [
    online.length === 0
      ? warning("workers", "no worker is online, so no runs are performed", "Start one: belfry start")
      : ok(
          "workers",
          `${online.length} online, ${sumOf(online, ({ running }) => running)} of ${sumOf(online, ({ slots }) => slots)} slots in use`,
        ),
    silent.length === 0
      ? ok("silent workers", "none")
      : warning(
          "silent workers",
          `${silent.length}, such as ${silent[0]!.id}: silent for ${spanWords(silent[0]!.silentForMs!)}`,
          "Other processes do its work: they take over its runs when the leases end. It is removed from the list after a day.",
        ),
    unoffered.length === 0
      ? ok("tasks", "every task has a worker")
      : problem(
          "tasks",
          `no worker offers ${unofferedWords(unoffered)}`,
          unofferedRemedy(unoffered, [...offered.keys()]),
        ),
  ]
}

function unofferedWords(unoffered: readonly ScheduleView[]): string {
  const tasks = [...new Set(unoffered.map(({ task }) => task))]
  const words = tasks
    .slice(0, 5)
    .map((task) => `${task} (schedule ${namesOf(unoffered.filter((schedule) => schedule.task === task))})`)
  return tasks.length > 5 ? `${words.join(", ")} and ${tasks.length - 5} more` : words.join(", ")
}

function unofferedRemedy([first]: readonly ScheduleView[], offered: readonly string[]): string {
  const near = nearestTo(first!.task, offered)
  const start = "Start a worker with this task in its configuration."
  return near === null ? start : `Did you mean ${near}? If not: ${start}`
}

export function checkRuns({ runs, attention }: Overview): readonly Check[] {
  const { stuck, waiting, areAllRunsRead } = attention
  const ofRead = areAllRunsRead ? "" : " among those that were read; there are too many to read all"
  return [
    ok("runs", `${runs.pending} pending, ${runs.running} running, ${runs.failed} failed in the history`),
    stuck.length === 0
      ? ok("stuck runs", `none${ofRead}`)
      : problem(
          "stuck runs",
          `${countWords(stuck)} whose lease has ended and that no worker has taken over, such as ${stuck[0]!.id}`,
          "Start a worker for its task.",
        ),
    waiting.length === 0
      ? ok("waiting runs", `no run has been waiting for long${ofRead}`)
      : warning(
          "waiting runs",
          `${countWords(waiting)} due for more than 5 min, for example ${waiting[0]!.id}`,
          "Start a worker for its task, or raise --concurrency.",
        ),
  ]
}

/** An overview contains at most ten of each kind. */
function countWords(listed: readonly unknown[]): string {
  return listed.length < 10 ? String(listed.length) : "10 or more"
}

function namesOf(schedules: readonly { readonly id: string }[]): string {
  const names = schedules.slice(0, 3).map(({ id }) => id)
  return schedules.length > 3 ? `${names.join(", ")} and ${schedules.length - 3} more` : names.join(", ")
}

function sumOf<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0)
}
