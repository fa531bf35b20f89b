import type { DueSchedules, Store } from "belfry/store"
import { type RunRef, succeed, UNFINISHED } from "../../../src/core/run.ts"
import {
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aPruning,
  aRun,
  aRunOf,
  aSchedule,
  heldRun,
} from "../../../src/store/laws/factories.ts"
import { countRuns, deleteSchedule, several } from "../../../src/store/laws/steps.ts"

/** What is asked of the store, and how much of a table each may look at. */

const page = { orderBy: "createdAt", after: null, limit: 20 } as const
const after = { at: Date.now() - 10_000 * 60_000, id: "past10000" }
/** For which one schedule has many runs. */
export const AN_INSTANT = 1_700_000_000_000
const ref = (number: number): RunRef => ({
  ...{ id: `running${number}`, state: "running", attempt: 1, failures: 0, lost: 0 },
})

export interface Asked {
  readonly what: string
  /** The most rows of a table that one part of it may look at. */
  readonly most: number
  /** By which indexes; where none is said, any that looks at so few. */
  readonly indexes?: readonly string[]
  /** What is read before, which doesn't count. */
  given?(store: Store): Promise<DueSchedules>
  call(store: Store, given: DueSchedules | undefined): Promise<unknown>
}

/** What the loops of every process ask for, all the time. They are functions, and their plans are kept. */
export const BY_LOOPS: readonly Asked[] = [
  {
    // They are chosen from all that are due, up to a thousand.
    what: "due schedules, 50 of 300",
    most: 300,
    indexes: ["schedules_due", "schedules_pkey", "runs_key", "shares_pkey"],
    call: (store) => store.dueSchedules({ limit: 50 }),
  },
  {
    what: "a fire of 50",
    most: 50,
    indexes: ["schedules_pkey", "runs_pkey", "runs_live"],
    given: (store) => store.dueSchedules({ limit: 50 }),
    call: (store, given) =>
      store.fire(
        given!.due.map(({ schedule }) =>
          aPlan(schedule, { runs: [aRunOf(schedule.id, { liveKey: schedule.id })] }),
        ),
      ),
  },
  {
    what: "a claim of 10, past 100 runs that wait for their key",
    most: 200,
    indexes: ["runs_due", "runs_key", "runs_slot", "ctid"],
    call: (store) => store.claim(aClaim({ limit: 10 })),
  },
  {
    what: "a claim of a task with nothing to do",
    most: 0,
    call: (store) => store.claim(aClaim({ tasks: [{ name: "idle", leaseMs: 1_000 }] })),
  },
  {
    what: "a heartbeat of a worker with 50",
    most: 50,
    indexes: ["runs_pkey"],
    call: (store) => store.heartbeat(aHeartbeat({ held: several(50, (n) => heldRun(ref(n + 100))) })),
  },
  {
    what: "the ends of 50",
    most: 50,
    indexes: ["runs_pkey"],
    call: (store) => store.transition(several(50, (n) => succeed(ref(n + 200), NOTHING))),
  },
  {
    what: "pruning 100, of which it looks at 500",
    most: 1_000,
    indexes: [
      ...["runs_completed", "runs_schedule_completed", "runs_pkey", "logs_pkey"],
      ...["journal_at", "statistics_expires", "ctid"],
    ],
    call: (store) => store.prune(aPruning({ olderThanMs: 40_000 * 60_000, keepPerSchedule: 1, limit: 100 })),
  },
]

/** What is asked for now and then: planned each time, by what the server knows of the tables. */
export const NOW_AND_THEN: readonly Asked[] = [
  {
    what: "when others have last succeeded, for schedules that depend on them",
    most: 301,
    indexes: ["schedules_due", "schedules_pkey", "runs_key", "runs_schedule_completed", "shares_pkey"],
    async call(store) {
      const dependsOn = [{ scheduleId: "s1", withinMs: 1_000 }]
      await store.putSchedule(aSchedule({ id: "dependent", dependsOn, nextRunAt: 1 }), null)
      return store.dueSchedules({ limit: 1 })
    },
  },
  {
    what: "a due schedule with 1,000 runs that wait",
    most: 302,
    async given(store) {
      await store.putSchedule(aSchedule({ id: "behind", nextRunAt: 1 }), null)
      const key = { concurrencyKey: "schedule:behind" }
      await store.enqueue(several(1_000, (number) => aRun({ id: `behind${number}`, ...key })))
      return store.dueSchedules({ limit: 0 })
    },
    call: (store) => store.dueSchedules({ limit: 500 }),
  },
  {
    what: "stale changes",
    most: 5,
    indexes: ["runs_pkey"],
    call: (store) => store.transition([{ ...succeed(ref(1), NOTHING), ifAttempt: 9 }]),
  },
  {
    what: "50 to enqueue, of which one is held and one there",
    most: 50,
    indexes: ["runs_pkey", "runs_live"],
    call: (store) =>
      store.enqueue([...several(48, () => aRun()), aRun({ liveKey: "live7" }), aRun({ id: "past5" })]),
  },
  {
    what: "lines for a log",
    most: 5,
    indexes: ["runs_pkey"],
    call: (store) => store.appendLogs([aLogLine("past7", { number: 1_000_000 })]),
  },
  {
    what: "a page of a log",
    most: 20,
    indexes: ["logs_pkey"],
    call: (store) => store.readLogs({ runId: "past7", after: { attempt: 1, number: 2_000 }, limit: 20 }),
  },
  {
    what: "100 schedules by their ids",
    most: 200,
    indexes: ["schedules_pkey"],
    call: (store) =>
      store.findSchedules(
        { ids: several(100, (n) => `s${n * 7}`) },
        { orderBy: "id", after: null, limit: 500 },
      ),
  },
  {
    what: "a page of schedules",
    most: 20,
    indexes: ["schedules_pkey"],
    call: (store) => store.findSchedules({}, { orderBy: "id", after: { at: null, id: "s5" }, limit: 20 }),
  },
  {
    what: "an owner's schedules",
    most: 100,
    indexes: ["schedules_owner"],
    call: (store) =>
      store.findSchedules({ owner: "app" }, { orderBy: "id", after: { at: null, id: "s2" }, limit: 100 }),
  },
  {
    what: "a put schedule",
    most: 5,
    indexes: ["schedules_pkey"],
    async call(store) {
      await store.putSchedule(aSchedule({ id: "s5000" }), null)
      return store.putSchedule(aSchedule({ id: "s5000" }), -1)
    },
  },
  {
    what: "a deleted schedule",
    most: 5,
    indexes: ["schedules_pkey"],
    call: (store) => deleteSchedule(store, { id: "s19999", version: -1 }),
  },
  {
    what: "runs by their ids",
    most: 5,
    indexes: ["runs_pkey"],
    call: (store) => store.findRuns({ ids: ["past1", "past40000"] }, page),
  },
  {
    what: "whole runs by their ids",
    most: 5,
    indexes: ["runs_pkey"],
    call: (store) => store.readRuns(["past1", "past40000"]),
  },
  {
    what: "runs whose ids begin alike",
    most: 50,
    indexes: ["runs_pkey"],
    call: (store) => store.findRuns({ idPrefix: "past1" }, { ...page, orderBy: "id" }),
  },
  {
    what: "the runs that are a part of another",
    most: 50,
    indexes: ["runs_parent"],
    call: (store) => store.findRuns({ parentId: "past1" }, page),
  },
  {
    what: "the runs that a worker holds",
    most: 1_100,
    indexes: ["runs_due"],
    call: (store) => store.findRuns({ workerId: "w1" }, page),
  },
  {
    what: "the newest of a rare task",
    most: 60,
    indexes: ["runs_due", "runs_task"],
    call: (store) => store.findRuns({ task: "rare" }, page),
  },
  {
    what: "the newest that somebody triggered and that ended",
    most: 50,
    indexes: ["runs_triggered_by"],
    call: (store) =>
      store.findRuns({ triggeredBy: ["manual"], states: ["succeeded", "failed", "cancelled"] }, page),
  },
  {
    what: "the runs of an hour",
    most: 1_100,
    indexes: ["runs_pending", "runs_due", "runs_finished"],
    call: (store) => store.findRuns({}, { ...page, from: after.at - 1_000, until: after.at }),
  },
  {
    what: "the newest runs, put together from those that wait, that are running, all thousand of them, and that ended",
    most: 1_100,
    indexes: ["runs_pending", "runs_due", "runs_finished"],
    call: (store) => store.findRuns({}, page),
  },
  {
    what: "a later page of them",
    most: 1_100,
    indexes: ["runs_pending", "runs_due", "runs_finished"],
    call: (store) => store.findRuns({}, { ...page, after }),
  },
  {
    what: "the newest of those that wait",
    most: 50,
    indexes: ["runs_pending"],
    call: (store) => store.findRuns({ states: ["pending"] }, page),
  },
  {
    what: "the newest that succeeded",
    most: 100,
    indexes: ["runs_finished"],
    call: (store) => store.findRuns({ states: ["succeeded"] }, page),
  },
  {
    what: "the runs that ended last",
    most: 50,
    indexes: ["runs_completed"],
    call: (store) => store.findRuns({}, { ...page, orderBy: "completedAt", after }),
  },
  {
    what: "a schedule's occurrences, of 20,000",
    most: 50,
    indexes: ["runs_schedule"],
    call: (store) => store.findRuns({ scheduleId: "s1" }, { ...page, orderBy: "scheduledFor", after }),
  },
  {
    what: "a schedule's newest occurrences, of 20,000",
    most: 50,
    indexes: ["runs_schedule"],
    call: (store) => store.findRuns({ scheduleId: "s1" }, { ...page, orderBy: "scheduledFor" }),
  },
  {
    what: "a schedule's occurrences, of 20,000, from far back",
    most: 50,
    indexes: ["runs_schedule"],
    call: (store) =>
      store.findRuns(
        { scheduleId: "s1" },
        { ...page, orderBy: "scheduledFor", after: { at: Date.now() - 19_900 * 60_000, id: "past19900" } },
      ),
  },
  {
    what: "a page of 2,000 runs of a schedule for one instant",
    most: 50,
    indexes: ["runs_schedule"],
    call: (store) =>
      store.findRuns(
        { scheduleId: "often" },
        { ...page, orderBy: "scheduledFor", after: { at: AN_INSTANT, id: "once1500" } },
      ),
  },
  {
    what: "a schedule's last success, of 20,000",
    most: 5,
    indexes: ["runs_schedule_completed"],
    call: (store) =>
      store.findRuns(
        { scheduleId: "s1", states: ["succeeded"] },
        { ...page, orderBy: "completedAt", limit: 1 },
      ),
  },
  {
    what: "unfinished runs of a schedule that has none among 20,000",
    most: 5,
    indexes: ["runs_key"],
    call: (store) => store.findRuns({ concurrencyKey: "schedule:s1", states: UNFINISHED }, page),
  },
  {
    what: "failed runs",
    most: 50,
    indexes: ["runs_unusual"],
    call: (store) => store.findRuns({ states: ["failed"] }, page),
  },
  {
    what: "the journal of a schedule",
    most: 20,
    indexes: ["journal_subject"],
    call: (store) =>
      store.readJournal(
        { subject: "schedule", subjectId: "s7" },
        { order: "newest", after: null, limit: 20 },
      ),
  },
  {
    what: "the newest of the journal",
    most: 20,
    indexes: ["journal_at"],
    call: (store) => store.readJournal({}, { order: "newest", after: null, limit: 20 }),
  },
  {
    what: "the statistics of a schedule",
    most: 20,
    indexes: ["statistics_pkey"],
    call: (store) =>
      store.summarise({ subject: "schedule:s7", spanMs: 3_600_000, from: 0, until: 9e12, limit: 20 }),
  },
  {
    what: "the counts of a schedule with three runs",
    most: 50,
    call: (store) => countRuns(store, { scheduleId: "s7" }),
  },
]
const NOTHING = { message: null, details: null }
