/** Schedulers on Redis: a program that `bursts.ts` starts. */
import { redis } from "../../src/redis.ts"
import { answerAsSchedulers } from "../shared/schedulers.ts"
import { putMany } from "./put-many.ts"

const url = process.argv[2]!

answerAsSchedulers({
  makeStore: () => redis(url),
  async putMany(schedule, prefix, count) {
    const store = redis(url)
    await putMany(store, schedule, prefix, count)
    await store.close()
  },
})
