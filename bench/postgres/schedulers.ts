/** Schedulers on PostgreSQL: a program that `bursts.ts` starts. */
import { postgres } from "../../src/postgres.ts"
import { answerAsSchedulers } from "../shared/schedulers.ts"
import { putMany } from "./stored-schedules.ts"

const url = process.argv[2]!

answerAsSchedulers({
  // Fewer than the default, because fifty pools share one server. Each store has one more for hints and heartbeats.
  makeStore: () => postgres({ url, connections: 4 }),
  async putMany(schedule, prefix, count) {
    const store = postgres(url)
    await putMany(store, url, { schedule, prefix, count })
    await store.close()
  },
})
