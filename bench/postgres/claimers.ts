/** Some of the claimers that fire due schedules at once, each with connections of its own: a program for `fires.ts`. */

import { planFire } from "../../src/core/fire.ts"
import { type PostgresStore, postgres } from "../../src/postgres.ts"
import { answer } from "./answering.ts"
import { HOUR, storeSchedules, storeYearly } from "./stored-schedules.ts"

const url = process.argv[2]!
let stores: readonly PostgresStore[] = []

export interface Claims {
  /** Of each call that found something: due, plan and fire. */
  readonly ms: readonly number[]
  readonly fired: number
  /** Plans that another claimer's came before. */
  readonly lost: number
}

answer({
  async open({ claimers }: { claimers: number }) {
    // A second one, so that telling others doesn't wait for the next look.
    stores = Array.from({ length: claimers }, () => postgres({ url, connections: 2 }))
    await Promise.all(stores.map((store) => store.open()))
    await Promise.all(stores.map((store) => store.now()))
  },

  /** Hourly, and due since the last full hour. */
  async scheduleDue({ prefix, count }: { prefix: string; count: number }) {
    const hour = Math.floor(Date.now() / HOUR) * HOUR
    const store = postgres(url)
    await storeSchedules(store, url, {
      prefix,
      count,
      cron: "0 * * * *",
      from: { task: "report", nextRunAt: hour, coveredUntil: hour - HOUR, createdAt: hour - 24 * HOUR },
    })
    await store.close()
  },

  scheduleYearly: ({ count }: { count: number }) => storeYearly(postgres(url), url, count),

  async claim({ limit, startAt }: { limit: number; startAt: number }): Promise<Claims> {
    await new Promise((resolve) => setTimeout(resolve, startAt - Date.now()))
    const claims = await Promise.all(stores.map((store) => claimAll(store, limit)))
    return {
      ms: claims.flatMap(({ ms }) => ms),
      fired: claims.reduce((sum, { fired }) => sum + fired, 0),
      lost: claims.reduce((sum, { lost }) => sum + lost, 0),
    }
  },
})

async function claimAll(store: PostgresStore, limit: number): Promise<Claims> {
  const ms: number[] = []
  let fired = 0
  let lost = 0
  for (;;) {
    const began = performance.now()
    const { now, due } = await store.dueSchedules({ limit })
    if (due.length === 0) return { ms, fired, lost }
    const answers = await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))
    ms.push(performance.now() - began)
    const done = answers.filter(({ outcome }) => outcome === "done").length
    fired += done
    lost += answers.length - done
  }
}
