import assert from "node:assert/strict"
import { beforeAll, test } from "vitest"
import { aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { afterId } from "../../../src/store/laws/steps.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { query } from "../../support/postgres.ts"
import { proveLaws } from "./schema-lab.ts"
import { anOpenStore } from "./scratch.ts"

/** A database that sorts text by a language. Ids must still be sorted by their bytes. */

let url = ""

beforeAll(async () => {
  url = await freshDatabase({ locale: "en-US" })
})

test("the database's default order is not that of bytes", async () => {
  const [row] = await query<{ is_other: boolean }>(url, "select 'a' < 'B' as is_other")

  assert.equal(row!.is_other, true)
})

test("pages of schedules and runs are ordered by the bytes of ids", async () => {
  const store = await anOpenStore(url)
  const ids = ["B", "_", "a", "-", "a-b", "ab", "A1", "Z", "z", "1", "a_b"]
  for (const id of ids) await store.putSchedule(aSchedule({ id }), null)
  await store.enqueue(ids.map((id) => aRun({ id })))
  const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1))

  const found: string[] = []
  for (;;) {
    const page = await store.findSchedules({}, { orderBy: "id", after: afterId(found.at(-1)), limit: 2 })
    found.push(...page.map(({ id }) => id))
    if (page.length < 2) break
  }

  assert.deepEqual(found, sorted)
  const newest = await store.findRuns({}, { orderBy: "createdAt", after: null, limit: 100 })
  assert.deepEqual(
    newest.map(({ id }) => id),
    sorted.toReversed(),
  )
})

// The laws in which ids are ordered, compared or paged.
proveLaws({ numbers: [4, 6, 9], where: "in another language", url: () => url })
