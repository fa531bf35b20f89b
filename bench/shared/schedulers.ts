import type { NewSchedule } from "../../src/core/schedule/schedule.ts"
import { createScheduler, defineTask, type Scheduler, silentLogger } from "../../src/index.ts"
import type { RunPage, RunSummary, Store } from "../../src/store.ts"
import { answer } from "./answering.ts"
import { aBenchSchedule } from "./belfry.ts"

/** The time between two instants. */
export const EVERY_MS = 10_000
const CRON = "*/10 * * * * *"
const PAGE = 500

export interface SchedulersOn {
  /** Makes a store for one scheduler, with its own connections. */
  makeStore(): Store
  /** Stores `count` copies of a schedule as `prefix-1`, `prefix-2`… */
  putMany(schedule: NewSchedule, prefix: string, count: number): Promise<void>
}

/** What the schedulers of one process fired since the last `taken` command. */
export interface TakenSchedules {
  readonly fired: number
  /** Plans that lost the race against another scheduler. */
  readonly lost: number
  /** How often the schedulers called `fire`. */
  readonly offers: number
  /** From the first read to the last answer, by the host's clock. Null if nothing was fired. */
  readonly from: number | null
  readonly until: number | null
}

const NOTHING: TakenSchedules = { fired: 0, lost: 0, offers: 0, from: null, until: null }

/** Answers as a process with some of the schedulers that wake for the same instant. */
export function answerAsSchedulers({ makeStore, putMany }: SchedulersOn): void {
  const store = makeStore()
  const noop = defineTask({ name: "noop", run: () => undefined })
  let schedulers: readonly Scheduler[] = []
  let taken = NOTHING

  const note = (count: number, lost: number, tookMs: number) => {
    const now = Date.now()
    taken = {
      fired: taken.fired + count,
      lost: taken.lost + lost,
      offers: taken.offers + 1,
      from: count === 0 ? taken.from : Math.min(taken.from ?? now, now - tookMs),
      until: count === 0 ? taken.until : now,
    }
  }
  const aScheduler = () =>
    createScheduler({
      store: makeStore(),
      tasks: [noop],
      logger: silentLogger,
      hooks: {
        claimed: ({ what, count, lostRaces, tookMs }) => {
          if (what === "schedules") note(count, lostRaces, tookMs)
        },
      },
    })

  answer({
    prepare: () => store.open(),

    /** Stores schedules that are due at this instant and every EVERY_MS after it. With `replace` they can't be fired ahead. */
    scheduleFrom({ at, count, policy }: { at: number; count: number; policy: "skip" | "replace" }) {
      const from = { task: "noop", nextRunAt: at, coveredUntil: at - EVERY_MS, createdAt: at - EVERY_MS }
      return putMany(aBenchSchedule(CRON, { ...from, overlap: { policy, limit: 1 } }), "due", count)
    },

    async start({ count }: { count: number }) {
      schedulers = Array.from({ length: count }, aScheduler)
      for (const scheduler of schedulers) await scheduler.start()
    },

    /** Returns the figures and resets them. */
    taken(): TakenSchedules {
      const last = taken
      taken = NOTHING
      return last
    },

    /** How late each run of this instant was created, by its `createdAt`. */
    latenessAt: ({ at }: { at: number }): Promise<readonly number[]> => latenessAt(store, at),

    async stop() {
      await Promise.all(schedulers.map((scheduler) => scheduler.stop()))
    },
  })
}

async function latenessAt(store: Store, at: number): Promise<readonly number[]> {
  const found: RunSummary[] = []
  let after: RunPage["after"] = null
  for (;;) {
    const bounds = { from: at, until: at + 1 }
    const page: readonly RunSummary[] = await store.findRuns(
      {},
      { orderBy: "scheduledFor", after, ...bounds, limit: PAGE },
    )
    found.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE)
      return found.map(({ createdAt }) => Math.max(0, createdAt - at))
    after = { at, id: last.id }
  }
}
