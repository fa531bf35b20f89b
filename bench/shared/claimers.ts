import { planFire } from "../../src/core/planning/fire.ts"
import type { NewSchedule } from "../../src/core/schedule/schedule.ts"
import type { Store } from "../../src/store.ts"
import { answer } from "./answering.ts"
import { aBenchSchedule, aYearlySchedule, HOUR } from "./belfry.ts"

export interface Claims {
  /** The time of each round that found due schedules: read, plan and fire. */
  readonly ms: readonly number[]
  readonly fired: number
  /** Plans that lost the race against another claimer. */
  readonly lost: number
}

export interface ClaimersOn {
  /** Makes a store for one claimer, with its own connections. */
  makeStore(): Store
  putMany(schedule: NewSchedule, prefix: string, count: number): Promise<void>
}

/** Answers as a process with some of the claimers that fire due schedules at the same time. */
export function answerAsClaimers({ makeStore, putMany }: ClaimersOn): void {
  let stores: readonly Store[] = []
  answer({
    async open({ claimers }: { claimers: number }) {
      stores = Array.from({ length: claimers }, makeStore)
      await Promise.all(stores.map((store) => store.open()))
      await Promise.all(stores.map((store) => store.now()))
    },

    /** Stores hourly schedules that have been due since the last full hour. */
    scheduleDue({ prefix, count }: { prefix: string; count: number }) {
      const hour = Math.floor(Date.now() / HOUR) * HOUR
      const from = {
        task: "report",
        nextRunAt: hour,
        coveredUntil: hour - HOUR,
        createdAt: hour - 24 * HOUR,
      }
      return putMany(aBenchSchedule("0 * * * *", from), prefix, count)
    },

    scheduleYearly: ({ count }: { count: number }) => putMany(aYearlySchedule(), "yearly", count),

    async claim({ limit, startAt }: { limit: number; startAt: number }): Promise<Claims> {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, startAt - Date.now())))
      const claims = await Promise.all(stores.map((store) => claimAll(store, limit)))
      return {
        ms: claims.flatMap(({ ms }) => ms),
        fired: claims.reduce((sum, { fired }) => sum + fired, 0),
        lost: claims.reduce((sum, { lost }) => sum + lost, 0),
      }
    },
  })
}

async function claimAll(store: Store, limit: number): Promise<Claims> {
  const ms: number[] = []
  let fired = 0
  let lost = 0
  for (;;) {
    const began = performance.now()
    const { now, due } = await store.dueSchedules({ limit })
    // Other claimers fire the rest, if there is any.
    if (due.length === 0) return { ms, fired, lost }
    const answers = await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))
    ms.push(performance.now() - began)
    const done = answers.filter(({ outcome }) => outcome === "done").length
    fired += done
    lost += answers.length - done
  }
}
