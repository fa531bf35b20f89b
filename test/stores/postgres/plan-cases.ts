import type { DueSchedules, Store } from "belfry/store"
import { type RunRef, succeed, UNFINISHED } from "../../../src/core/run/run.ts"
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

/** Calls of the store, and how many rows of a table each may read. */

const page = { orderBy: "createdAt", after: null, limit: 20 } as const
const after = { at: Date.now() - 10_000 * 60_000, id: "past10000" }
/** The schedule "often" has many runs for this instant. */
export const AN_INSTANT = 1_700_000_000_000
const ref = (number: number): RunRef => ({
  ...{ id: `running${number}`, state: "running", attempt: 1, failures: 0, lost: 0 },
})

export interface PlanCase {
  readonly what: string
  /** The most rows of a table that one step of a plan may read. */
  readonly maxRows: number
  /** The indexes that it may use. Without them: any index, within `maxRows`. */
  readonly indexes?: readonly string[]
  /** A read before the call, which is not counted. */
  prepare?(store: Store): Promise<DueSchedules>
  call(store: Store, prepared: DueSchedules | undefined): Promise<unknown>
}

/** The calls that the loops of every process repeat. They are functions, and their plans are kept. */
export const BY_LOOPS: readonly PlanCase[] = [
  {
    // They are chosen from all due schedules, up to a thousand.
    what: "due schedules, 50 of 300",
    maxRows: 300,
    indexes: ["schedules_due", "schedules_pkey", "runs_key", "shares_pkey"],
    call: (store) => store.dueSchedules({ limit: 50 }),
  },
  {
    what: "a fire of 50 plans",
    maxRows: 50,
    indexes: ["schedules_pkey", "runs_pkey", "runs_live"],
    prepare: (store) => store.dueSchedules({ limit: 50 }),
    call: (store, prepared) =>
      store.fire(
        prepared!.due.map(({ schedule }) =>
          aPlan(schedule, { runs: [aRunOf(schedule.id, { liveKey: schedule.id })] }),
        ),
      ),
  },
  {
    what: "a claim of 10, past 100 runs that wait for their key",
    maxRows: 200,
    indexes: ["runs_due", "runs_key", "runs_slot", "ctid"],
    call: (store) => store.claim(aClaim({ limit: 10 })),
  },
  {
    what: "a claim of a task with nothing to do",
    maxRows: 0,
    call: (store) => store.claim(aClaim({ tasks: [{ name: "idle", leaseMs: 1_000 }] })),
  },
  {
    what: "a heartbeat of a worker with 50 runs",
    maxRows: 50,
    indexes: ["runs_pkey"],
    call: (store) => store.heartbeat(aHeartbeat({ held: several(50, (n) => heldRun(ref(n + 100))) })),
  },
  {
    what: "the ends of 50 runs",
    maxRows: 50,
    indexes: ["runs_pkey"],
    call: (store) => store.transition(several(50, (n) => succeed(ref(n + 200), NOTHING))),
  },
  {
    what: "the end of a run whose key others wait for",
    maxRows: 1,
    indexes: ["runs_pkey", "runs_key"],
    call: (store) => store.transition([succeed(ref(1), NOTHING)]),
  },
  {
    what: "pruning 100 runs, of 500 examined",
    maxRows: 1_000,
    indexes: [
      ...["runs_completed", "runs_schedule_completed", "runs_pkey", "logs_pkey"],
      ...["journal_at", "statistics_expires", "ctid"],
    ],
    call: (store) => store.prune(aPruning({ olderThanMs: 40_000 * 60_000, keepPerSchedule: 1, limit: 100 })),
  },
]

/** Occasional calls. They are planned each time, by the server's statistics of the tables. */
export const OCCASIONAL: readonly PlanCase[] = [
  {
    what: "the last successes of schedules that others depend on",
    maxRows: 301,
    indexes: ["schedules_due", "schedules_pkey", "runs_key", "runs_schedule_completed", "shares_pkey"],
    async call(store) {
      const dependsOn = [{ scheduleId: "s1", withinMs: 1_000 }]
      await store.putSchedule(aSchedule({ id: "dependent", dependsOn, nextRunAt: 1 }), null)
      return store.dueSchedules({ limit: 1 })
    },
  },
  {
    what: "a due schedule with 1,000 pending runs",
    maxRows: 302,
    async prepare(store) {
      await store.putSchedule(aSchedule({ id: "behind", nextRunAt: 1 }), null)
      const key = { concurrencyKey: "schedule:behind" }
      await store.enqueue(several(1_000, (number) => aRun({ id: `behind${number}`, ...key })))
      return store.dueSchedules({ limit: 0 })
    },
    call: (store) => store.dueSchedules({ limit: 500 }),
  },
  {
    what: "stale changes",
    maxRows: 5,
    indexes: ["runs_pkey"],
    call: (store) => store.transition([{ ...succeed(ref(1), NOTHING), ifAttempt: 9 }]),
  },
  {
    what: "50 runs to enqueue, of which one is held and one exists",
    maxRows: 50,
    indexes: ["runs_pkey", "runs_live"],
    call: (store) =>
      store.enqueue([...several(48, () => aRun()), aRun({ liveKey: "live7" }), aRun({ id: "past5" })]),
  },
  {
    what: "new log lines",
    maxRows: 5,
    indexes: ["runs_pkey"],
    call: (store) => store.appendLogs([aLogLine("past7", { number: 1_000_000 })]),
  },
  {
    what: "a page of a log",
    maxRows: 20,
    indexes: ["logs_pkey"],
    call: (store) => store.readLogs({ runId: "past7", after: { attempt: 1, number: 2_000 }, limit: 20 }),
  },
  {
    what: "100 schedules by their ids",
    maxRows: 200,
    indexes: ["schedules_pkey"],
    call: (store) =>
      store.findSchedules(
        { ids: several(100, (n) => `s${n * 7}`) },
        { orderBy: "id", after: null, limit: 500 },
      ),
  },
  {
    what: "a page of schedules",
    maxRows: 20,
    indexes: ["schedules_pkey"],
    call: (store) => store.findSchedules({}, { orderBy: "id", after: { at: null, id: "s5" }, limit: 20 }),
  },
  {
    what: "an owner's schedules",
    maxRows: 100,
    indexes: ["schedules_owner"],
    call: (store) =>
      store.findSchedules({ owner: "app" }, { orderBy: "id", after: { at: null, id: "s2" }, limit: 100 }),
  },
  {
    what: "a put schedule",
    maxRows: 5,
    indexes: ["schedules_pkey"],
    async call(store) {
      await store.putSchedule(aSchedule({ id: "s5000" }), null)
      return store.putSchedule(aSchedule({ id: "s5000" }), -1)
    },
  },
  {
    what: "a deleted schedule",
    maxRows: 5,
    indexes: ["schedules_pkey"],
    call: (store) => deleteSchedule(store, { id: "s19999", version: -1 }),
  },
  {
    what: "runs by their ids",
    maxRows: 5,
    indexes: ["runs_pkey"],
    call: (store) => store.findRuns({ ids: ["past1", "past40000"] }, page),
  },
  {
    what: "whole runs by their ids",
    maxRows: 5,
    indexes: ["runs_pkey"],
    call: (store) => store.readRuns(["past1", "past40000"]),
  },
  {
    what: "runs by the prefix of their ids",
    maxRows: 50,
    indexes: ["runs_pkey"],
    call: (store) => store.findRuns({ idPrefix: "past1" }, { ...page, orderBy: "id" }),
  },
  {
    what: "the children of a run",
    maxRows: 50,
    indexes: ["runs_parent"],
    call: (store) => store.findRuns({ parentId: "past1" }, page),
  },
  {
    what: "the runs that a worker holds",
    maxRows: 1_100,
    indexes: ["runs_due"],
    call: (store) => store.findRuns({ workerId: "w1" }, page),
  },
  {
    what: "the newest runs of a rare task",
    maxRows: 60,
    indexes: ["runs_due", "runs_task"],
    call: (store) => store.findRuns({ task: "rare" }, page),
  },
  {
    what: "the newest manual runs that are finished",
    maxRows: 50,
    indexes: ["runs_triggered_by"],
    call: (store) =>
      store.findRuns({ triggeredBy: ["manual"], states: ["succeeded", "failed", "cancelled"] }, page),
  },
  {
    what: "the runs of an hour",
    maxRows: 1_100,
    indexes: ["runs_pending", "runs_due", "runs_finished"],
    call: (store) => store.findRuns({}, { ...page, from: after.at - 1_000, until: after.at }),
  },
  {
    what: "the newest runs, merged from pending, running (all 1,000 of them) and finished runs",
    maxRows: 1_100,
    indexes: ["runs_pending", "runs_due", "runs_finished"],
    call: (store) => store.findRuns({}, page),
  },
  {
    what: "a later page of the newest runs",
    maxRows: 1_100,
    indexes: ["runs_pending", "runs_due", "runs_finished"],
    call: (store) => store.findRuns({}, { ...page, after }),
  },
  {
    what: "the newest pending runs",
    maxRows: 50,
    indexes: ["runs_pending"],
    call: (store) => store.findRuns({ states: ["pending"] }, page),
  },
  {
    what: "the newest succeeded runs",
    maxRows: 100,
    indexes: ["runs_finished"],
    call: (store) => store.findRuns({ states: ["succeeded"] }, page),
  },
  {
    what: "the runs that ended last",
    maxRows: 50,
    indexes: ["runs_completed"],
    call: (store) => store.findRuns({}, { ...page, orderBy: "completedAt", after }),
  },
  {
    what: "a schedule's occurrences, of 20,000",
    maxRows: 50,
    indexes: ["runs_schedule"],
    call: (store) => store.findRuns({ scheduleId: "s1" }, { ...page, orderBy: "scheduledFor", after }),
  },
  {
    what: "a schedule's newest occurrences, of 20,000",
    maxRows: 50,
    indexes: ["runs_schedule"],
    call: (store) => store.findRuns({ scheduleId: "s1" }, { ...page, orderBy: "scheduledFor" }),
  },
  {
    what: "a schedule's occurrences, of 20,000, from far back",
    maxRows: 50,
    indexes: ["runs_schedule"],
    call: (store) =>
      store.findRuns(
        { scheduleId: "s1" },
        { ...page, orderBy: "scheduledFor", after: { at: Date.now() - 19_900 * 60_000, id: "past19900" } },
      ),
  },
  {
    what: "a page of 2,000 runs of a schedule for one instant",
    maxRows: 50,
    indexes: ["runs_schedule"],
    call: (store) =>
      store.findRuns(
        { scheduleId: "often" },
        { ...page, orderBy: "scheduledFor", after: { at: AN_INSTANT, id: "once1500" } },
      ),
  },
  {
    what: "a schedule's last success, of 20,000",
    maxRows: 5,
    indexes: ["runs_schedule_completed"],
    call: (store) =>
      store.findRuns(
        { scheduleId: "s1", states: ["succeeded"] },
        { ...page, orderBy: "completedAt", limit: 1 },
      ),
  },
  {
    what: "unfinished runs of a schedule that has none among 20,000",
    maxRows: 5,
    indexes: ["runs_key"],
    call: (store) => store.findRuns({ concurrencyKey: "schedule:s1", states: UNFINISHED }, page),
  },
  {
    what: "failed runs",
    maxRows: 50,
    indexes: ["runs_unusual"],
    call: (store) => store.findRuns({ states: ["failed"] }, page),
  },
  {
    what: "the journal of a schedule",
    maxRows: 20,
    indexes: ["journal_subject"],
    call: (store) =>
      store.readJournal(
        { subject: "schedule", subjectId: "s7" },
        { order: "newest", after: null, limit: 20 },
      ),
  },
  {
    what: "the newest entries of the journal",
    maxRows: 20,
    indexes: ["journal_at"],
    call: (store) => store.readJournal({}, { order: "newest", after: null, limit: 20 }),
  },
  {
    what: "the statistics of a schedule",
    maxRows: 20,
    indexes: ["statistics_pkey"],
    call: (store) =>
      store.summarise({ subject: "schedule:s7", spanMs: 3_600_000, from: 0, until: 9e12, limit: 20 }),
  },
  {
    what: "the counts of a schedule with three runs",
    maxRows: 50,
    call: (store) => countRuns(store, { scheduleId: "s7" }),
  },
]
const NOTHING = { message: null, details: null }
