/** One process of Belfry on PostgreSQL: a program that `contender.ts` starts. */
import { postgres } from "../../src/postgres.ts"
import { connected } from "../../test/support/postgres.ts"
import { answerAsBelfry } from "../shared/belfry.ts"
import { putMany } from "./stored-schedules.ts"

const url = process.argv[2]!
const store = postgres(url)
let client: Awaited<ReturnType<typeof connected>> | null = null

answerAsBelfry({
  store,
  async isAnythingLeft() {
    client ??= await connected(url)
    const { rows } = await client.query(
      // By an index: with many finished runs, a read of the whole table would be most of what is measured.
      "select 1 as bench_left from belfry.runs where state in ('pending', 'running') and claimable_at is not null limit 1",
    )
    return rows.length > 0
  },
  putMany: (schedule, prefix, count) => putMany(store, url, { schedule, prefix, count }),
})
process.on("disconnect", () => void client?.end())
