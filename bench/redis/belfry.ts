/** One process of Belfry on Redis: a program that `contender.ts` starts. */
import { redis } from "../../src/redis.ts"
import { countRuns } from "../../src/store/laws/steps.ts"
import { answerAsBelfry } from "../shared/belfry.ts"
import { putMany } from "./put-many.ts"

const store = redis(process.argv[2]!)

answerAsBelfry({
  store,
  async isAnythingLeft() {
    const { pending, running } = await countRuns(store)
    return pending + running > 0
  },
  putMany: (schedule, prefix, count) => putMany(store, schedule, prefix, count),
})
