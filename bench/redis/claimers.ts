/** Claimers on Redis: a program that `fires.ts` starts. */
import { redis } from "../../src/redis.ts"
import { answerAsClaimers } from "../shared/claimers.ts"
import { putMany } from "./put-many.ts"

const url = process.argv[2]!

answerAsClaimers({
  makeStore: () => redis(url),
  async putMany(schedule, prefix, count) {
    const store = redis(url)
    await putMany(store, schedule, prefix, count)
    await store.close()
  },
})
