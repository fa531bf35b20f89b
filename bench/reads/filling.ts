import { SCHEDULE_SPANS, SPANS } from "../../src/core/records/statistics.ts"
import { DEFAULT_RETRY } from "../../src/core/run/backoff.ts"
import { cancel, fail, type Run, type RunChange, succeed } from "../../src/core/run/run.ts"
import { DAY, HOUR, MINUTE } from "../../src/core/time/instant.ts"
import { aHeartbeat, anEntry, aRunOf, aSchedule, aWorker } from "../../src/store/laws/factories.ts"
import type { Store } from "../../src/store/store.ts"

export interface Filling {
  readonly schedules: number
  readonly runs: number
}

const BATCH = 2_000
export const TASKS = 20
const NOTHING = { message: "done", details: { rows: 12 } }
const FAILURE = {
  outcome: "failed",
  error: "Error: it broke\n    at here",
  retry: "never",
  output: NOTHING,
} as const

/** Fills a store like real processes: schedules, their runs with all kinds of ends, the journal, statistics and workers. */
export async function fill(
  store: Store,
  filling: Filling,
  onProgress: (done: number) => void,
): Promise<void> {
  await fillSchedules(store, filling)
  for (let done = 0; done < filling.runs; done += BATCH) {
    await fillRuns(store, filling, done)
    if (done % 100_000 === 0) onProgress(done)
  }
  await leaveUnfinished(store, filling)
  await fillJournal(store)
  await fillStatistics(store)
}

async function fillSchedules(store: Store, { schedules }: Filling): Promise<void> {
  const now = await store.now()
  for (let first = 0; first < schedules; first += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, offset) => {
        const number = first + offset
        const paused = number % 50 === 0 ? { at: now, until: null, reason: "holiday", by: "ann" } : null
        return store.putSchedule(
          aSchedule({
            id: scheduleId(number),
            task: taskOf(number),
            nextRunAt: now + HOUR + number * MINUTE,
            tags: [`team-${number % 10}`],
            owner: `owner-${number % 5}`,
            description: `Report number ${number}`,
            paused,
          }),
          null,
        )
      }),
    )
}

export const scheduleId = (number: number) => `schedule-${String(number).padStart(5, "0")}`
const taskOf = (number: number) => `task-${number % TASKS}`

async function fillRuns(store: Store, { schedules }: Filling, first: number): Promise<void> {
  const numbers = Array.from({ length: BATCH }, (_, offset) => first + offset)
  await store.enqueue(
    numbers.map((number) =>
      aRunOf(scheduleId(number % schedules), {
        id: `${scheduleId(number % schedules)}@${String(number).padStart(8, "0")}`,
        task: taskOf(number % schedules),
        payload: { account: number, list: [1, 2, 3] },
        scheduledFor: number * 1_000,
        triggeredBy: number % 1_000 === 0 ? "manual" : "schedule",
        parentId: number % 500 === 1 ? "flow-1" : null,
      }),
    ),
  )
  // A claim may return fewer runs than asked for.
  for (let left = BATCH; left > 0; ) {
    const { runs } = await store.claim({ workerId: "worker-1", tasks: allTasks(), limit: left })
    await store.transition(runs.map((run, index) => endOf(run, left - index)))
    left -= runs.length
  }
}

export const allTasks = () =>
  Array.from({ length: TASKS }, (_, number) => ({ name: taskOf(number), leaseMs: DAY }))

function endOf(run: Run, index: number): RunChange {
  if (index % 100 === 7) return fail(run, FAILURE, DEFAULT_RETRY, 0)
  if (index % 200 === 9) return cancel(run, { reason: "no longer needed", by: "ann" })!
  return succeed(run, NOTHING)
}

async function leaveUnfinished(store: Store, { schedules }: Filling): Promise<void> {
  const waiting = (number: number) => aRunOf(scheduleId(number % schedules), { task: taskOf(number) })
  await store.enqueue(Array.from({ length: 500 }, (_, number) => waiting(number)))
  await store.claim({ workerId: "worker-2", tasks: allTasks(), limit: 200 })
  for (let number = 0; number < 50; number++)
    await store.heartbeat(aHeartbeat({ worker: aWorker({ id: `worker-${number}` }) }))
}

async function fillJournal(store: Store): Promise<void> {
  for (let batch = 0; batch < 100; batch++)
    await store.appendJournal(
      Array.from({ length: 1_000 }, (_, index) =>
        anEntry({ subjectId: scheduleId(index), by: `person-${index % 7}`, after: { enabled: true } }),
      ),
    )
}

async function fillStatistics(store: Store): Promise<void> {
  const counters = {
    succeeded: 7,
    failed: 1,
    durationMs: 5_000,
    "duration:500": 8,
    latenessMs: 9,
    "lateness:2": 8,
  }
  const worker = aWorker({ id: "counting" })
  let number = 0
  for (let minute = 0; minute < 1_440; minute += 60) {
    const additions = Array.from({ length: 60 }, (_, offset) => {
      const agoMs = (minute + offset) * MINUTE
      return [
        { subject: "all", spans: SPANS, agoMs, counters },
        { subject: "schedule:schedule-00001", spans: SCHEDULE_SPANS, agoMs: agoMs * 60, counters },
      ]
    }).flat()
    await store.heartbeat(aHeartbeat({ worker, statistics: { number: ++number, additions } }))
  }
}
