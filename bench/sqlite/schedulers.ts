/** Schedulers on one SQLite file: a program that `bursts.ts` starts. */
import { sqlite } from "../../src/sqlite.ts"
import { answerAsSchedulers } from "../shared/schedulers.ts"

const path = process.argv[2]!

answerAsSchedulers({
  makeStore: () => sqlite({ path }),
  async putMany(schedule, prefix, count) {
    const store = sqlite({ path })
    await store.open()
    for (let index = 1; index <= count; index++)
      await store.putSchedule({ ...schedule, id: `${prefix}-${index}` }, null)
    await store.close()
  },
})
