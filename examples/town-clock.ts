/**
 * A small application on the memory store: the clock of a town. Start it with `npm start`, stop it with Ctrl-C.
 * Everything it prints comes from the public API: the descriptions, the next times, the events and the ledger.
 */
import { createScheduler, defineTask, memory, type RunEvent, type ScheduleView } from "belfry"
import { describe, parse } from "belfry/cron"

const strike = defineTask({
  name: "strike",
  run: () => ({ success: true, message: "dong" }),
})

const wind = defineTask({
  name: "wind",
  // Takes longer than the time between two occurrences, so the next occurrence is skipped and recorded.
  async run({ signal, progress }) {
    for (let turn = 1; turn <= 5; turn++) {
      await sleep(1_000, signal)
      progress(turn / 5)
    }
    return { success: true, message: "5 turns" }
  },
})

const telegraph = defineTask({
  name: "telegraph",
  retry: { attempts: 3, delay: "1s", backoff: "fixed" },
  run({ run }) {
    if (!run.isLastAttempt) throw new Error("the line is down")
    return { success: true, message: `sent at attempt ${run.attempt}` }
  },
})

const sweep = defineTask({ name: "sweep", run: () => ({ success: true, message: "the square is clean" }) })

const scheduler = createScheduler({
  store: memory(),
  tasks: [strike, wind, telegraph, sweep],
  schedules: [
    strike.schedule("bell", { cron: "*/5 * * * * *" }),
    wind.schedule("clockwork", { every: "3s", overlap: "skip" }),
    telegraph.schedule("weather-report", { every: "10s" }),
    sweep.schedule("market-day", { cron: "0 14 * * SAT", timezone: "America/New_York" }),
    // 02:30 doesn't exist in the night when clocks go forward. Then the schedule runs right after the gap.
    sweep.schedule("night-sweep", { cron: "30 2 * * *", timezone: "Europe/Berlin" }),
  ],
  hooks: { run: (event) => printEvent(event) },
})

const outcomes = new Map<string, number>()
let isStopping = false
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop())

await scheduler.start()
// Schedules can also be created while the program runs.
await scheduler.schedules.create("opening", { task: sweep, in: "2s" })
const schedules = (await scheduler.schedules.list()).items

print("The town clock runs on the memory store: its data is gone when it stops. Ctrl-C stops it.\n")
for (const schedule of schedules) {
  print(`  ${schedule.id.padEnd(15)} ${schedule.task.padEnd(10)} ${inWords(schedule)}`)
  print(`  ${"".padEnd(26)} next: ${whenNext(schedule)}`)
}
print("")

/** Prints one line for each event. */
function printEvent(event: RunEvent): void {
  const line = lineOf(event)
  if (line === null) return
  outcomes.set(event.type, (outcomes.get(event.type) ?? 0) + 1)
  print(`${new Date().toLocaleTimeString("en-GB")}  ${line}`)
}

function lineOf(event: RunEvent): string | null {
  switch (event.type) {
    case "succeeded":
      return `${event.scheduleId?.padEnd(15)} ${event.message}`
    case "retrying":
      return `${event.scheduleId?.padEnd(15)} attempt ${event.attempt} failed: ${firstLine(event.error)}; trying again`
    case "failed":
    case "lost":
      return `${event.scheduleId?.padEnd(15)} failed: ${firstLine(event.error)}`
    case "released":
      return `${event.scheduleId?.padEnd(15)} given back unfinished`
    case "skipped":
      return `${event.scheduleId?.padEnd(15)} skipped (${event.reason})`
    default:
      return null
  }
}

/** Starts nothing new, gives running tasks two seconds to finish, and prints a summary. */
async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  print("\nStopping: nothing new starts; running tasks have 2 seconds.")
  // Read before the stop, which closes the store.
  const reasons = await skipReasons()
  await scheduler.stop({ timeout: "2s" })

  print("\nWhat happened")
  for (const [outcome, count] of outcomes) print(`  ${outcome.padEnd(10)} ${count}`)
  print("Skipped occurrences (from the ledger, newest first)")
  for (const reason of reasons) print(`  ${reason}`)
  if (reasons.length === 0) print("  Nothing was skipped.")
  print("Stopped.")
}

/** The ledger has an entry for every occurrence. Returns the entries without a run. */
async function skipReasons(): Promise<readonly string[]> {
  const reasons: string[] = []
  for (const { id } of (await scheduler.schedules.list()).items) {
    const { items: entries } = await scheduler.schedules.occurrences(id, { limit: 100 })
    const skipped = entries.filter(({ outcome }) => outcome === "skipped")
    for (const { scheduledFor, reason, message } of skipped.slice(0, 5))
      reasons.push(`${id} at ${scheduledFor.toLocaleTimeString("en-GB")}: ${reason}. ${message}`)
    if (skipped.length > 5) reasons.push(`${id}: ${skipped.length - 5} more among its last 100 occurrences`)
  }
  return reasons
}

function inWords(schedule: ScheduleView): string {
  const words = schedule.triggers.map((trigger) => {
    if (trigger.kind === "cron") return describe(parse(trigger.cron, { timezone: schedule.timezone }))
    return trigger.kind === "every" ? `Every ${trigger.everyMs / 1_000} seconds` : "Once"
  })
  return `${words.join(", and ")}${schedule.timezone === "UTC" ? "" : `, ${schedule.timezone}`}`
}

/** In the schedule's own time zone. */
function whenNext({ nextRunAt, timezone }: ScheduleView): string {
  if (nextRunAt === null) return "never"
  const seconds = Math.max(0, Math.round((nextRunAt.getTime() - Date.now()) / 1_000))
  if (seconds < 60) return `in ${seconds} s`
  return nextRunAt.toLocaleString("en-GB", {
    timeZone: timezone,
    timeZoneName: "shortOffset",
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  })
}

function firstLine(text: string | null): string {
  return text?.split("\n")[0] ?? ""
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

function print(line: string): void {
  console.log(line)
}
