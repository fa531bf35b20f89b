/** Claimers on PostgreSQL: a program that `fires.ts` starts. */
import { postgres } from "../../src/postgres.ts"
import { answerAsClaimers } from "../shared/claimers.ts"
import { putMany } from "./stored-schedules.ts"

const url = process.argv[2]!

answerAsClaimers({
  // Two connections, so that sending hints does not wait for the next read.
  makeStore: () => postgres({ url, connections: 2 }),
  async putMany(schedule, prefix, count) {
    const store = postgres(url)
    await putMany(store, url, { schedule, prefix, count })
    await store.close()
  },
})
