import { DAY, HOUR, MINUTE } from "../../src/core/time/instant.ts"
import { createScheduler } from "../../src/scheduler/create-scheduler.ts"
import type { RunFilter, RunPage, ScheduleFilter, SchedulePage, Store } from "../../src/store/store.ts"
import { type Filling, scheduleId } from "./filling.ts"

/** One read of a page of the dashboard or a command of the CLI. */
export interface Read {
  readonly what: string
  call(): Promise<unknown>
}

export async function readsOf(store: Store, { schedules: count }: Filling): Promise<readonly Read[]> {
  const now = await store.now()
  const schedules = (what: string, filter: ScheduleFilter, page: Partial<SchedulePage> = {}): Read => ({
    what: `schedules ${what}`,
    call: () => store.findSchedules(filter, { orderBy: "id", after: null, limit: 50, ...page }),
  })
  const runs = (what: string, filter: RunFilter, page: Partial<RunPage> = {}): Read => ({
    what: `runs ${what}`,
    call: () => store.findRuns(filter, { orderBy: "createdAt", after: null, limit: 50, ...page }),
  })
  const middle = await store.findRuns({}, { orderBy: "createdAt", after: null, limit: 1 })
  const after = { at: middle[0]!.createdAt - 10_000, id: "schedule" }
  const scheduler = createScheduler({ store })
  return [
    schedules("by id", {}),
    schedules("a page in the middle", {}, { after: { at: null, id: scheduleId(count / 2) } }),
    schedules("by next run", {}, { orderBy: "nextRunAt" }),
    schedules("by last run", {}, { orderBy: "lastRunAt" }),
    schedules("of a tag", { tag: "team-3" }),
    schedules("of an owner, by next run", { owner: "owner-2" }, { orderBy: "nextRunAt" }),
    schedules("of a task", { task: "task-7" }),
    ...(["failing", "paused", "overdue", "new", "broken"] as const).map((state) =>
      schedules(`that are ${state}`, { states: [state] }),
    ),
    schedules("with a text that one schedule has", { text: "number 9999" }),
    schedules("with a text that no schedule has", { text: "nobody has this" }),
    schedules("failing, by last run", { states: ["failing"] }, { orderBy: "lastRunAt" }),
    { what: "schedules counted", call: () => store.count({ schedules: {}, limit: 10_000 }) },
    {
      what: "schedules of a tag counted",
      call: () => store.count({ schedules: { tag: "team-3" }, limit: 10_000 }),
    },
    runs("newest", {}),
    runs("a later page", {}, { after }),
    runs("of an hour", {}, { from: now - HOUR, until: now - MINUTE }),
    runs("by end", {}, { orderBy: "completedAt" }),
    runs("of a schedule", { scheduleId: scheduleId(42) }),
    runs("of a schedule, by occurrence", { scheduleId: scheduleId(42) }, { orderBy: "scheduledFor" }),
    runs("of a task", { task: "task-7" }),
    ...(["failed", "cancelled", "running", "pending", "succeeded", "skipped"] as const).map((state) =>
      runs(state, { states: [state] }),
    ),
    runs("failed, of a schedule", { scheduleId: scheduleId(107), states: ["failed"] }),
    runs("failed, of a task", { task: "task-7", states: ["failed"] }),
    runs("cancelled, of a task that has none", { task: "task-3", states: ["cancelled"] }),
    runs("triggered by hand", { triggeredBy: ["manual"] }),
    runs("of a worker", { workerId: "worker-2" }),
    runs("of a parent", { parentId: "flow-1" }),
    runs("that begin with an id", { idPrefix: `${scheduleId(77)}@` }, { orderBy: "id" }),
    { what: "runs counted", call: () => store.count({ runs: {}, limit: 10_000 }) },
    {
      what: "runs of a schedule counted",
      call: () => store.count({ runs: { scheduleId: scheduleId(42) }, limit: 10_000 }),
    },
    { what: "runs of a task counted", call: () => store.count({ runs: { task: "task-7" }, limit: 10_000 }) },
    {
      what: "50 whole runs",
      call: async () => {
        const found = await store.findRuns({}, { orderBy: "createdAt", after: null, limit: 50 })
        await store.readRuns(found.map(({ id }) => id))
      },
    },
    { what: "workers", call: () => store.findWorkers({ afterId: null, limit: 100 }) },
    {
      what: "the journal, newest",
      call: () => store.readJournal({}, { order: "newest", after: null, limit: 50 }),
    },
    {
      what: "the journal of a schedule",
      call: () =>
        store.readJournal(
          { subject: "schedule", subjectId: scheduleId(7) },
          { order: "newest", after: null, limit: 50 },
        ),
    },
    {
      what: "statistics of a day, by minute",
      call: () =>
        store.summarise({ subject: "all", spanMs: MINUTE, from: now - DAY, until: now + DAY, limit: 2_000 }),
    },
    {
      what: "statistics of a schedule, by hour",
      call: () =>
        store.summarise({
          ...{ subject: "schedule:schedule-00001", spanMs: HOUR },
          ...{ from: now - 7 * DAY, until: now + DAY, limit: 2_000 },
        }),
    },
    { what: "the overview", call: () => scheduler.overview() },
    { what: "all tasks", call: () => scheduler.tasks() },
    { what: "a search", call: () => scheduler.search("schedule-00077") },
  ]
}
