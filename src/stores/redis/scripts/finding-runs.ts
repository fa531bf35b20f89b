import { type RunSummary, summaryOf } from "../../../core/run/run-summary.ts"
import { isWantedRun } from "../../../store/run-filter.ts"
import type { RunFilter, RunPage } from "../../../store/store.ts"
import { pageOfRuns } from "../../kit/run-pages.ts"
import type { Connection, Reply } from "../connection.ts"
import { SUMMARIES } from "../lua/summaries.ts"
import { indexesFor, type RunIndex } from "../run-indexes.ts"
import { fieldsOf, readableRunOf } from "../run-rows.ts"
import { marked, SLICE, scriptOf } from "../script.ts"
import { readRuns } from "./reading-runs.ts"
import { type Place, walk, wantedArgs } from "./walking-runs.ts"

// By id, ascending. Arguments: the id before the first, how many to examine, and the filter. Returns the last id examined, and
// the runs that match.
const BY_ID = scriptOf(
  [SUMMARIES],
  `
local wanted = read_wanted(3)
local first = wanted.prefix and '[' .. wanted.prefix or '-'
local after = text_of(ARGV[1])
if after and (not wanted.prefix or not is_less(after, wanted.prefix)) then
  first = '(' .. after
end
local last = wanted.prefix and '(' .. wanted.prefix .. '\\255' or '+'
local ids, found = call('ZRANGEBYLEX', RUN_IDS, first, last, 'LIMIT', 0, ARGV[2]), {}
for _, id in ipairs(ids) do
  local run, list = read_summary(id)
  if run and matches(run, wanted) then
    found[#found + 1] = summary_of(id, run, list)
  end
end
return { ids[#ids] or false, found }
`,
)

export async function findRuns(
  connection: Connection,
  filter: RunFilter,
  page: RunPage,
): Promise<readonly RunSummary[]> {
  const { ids, ...rest } = filter
  if (ids !== undefined) {
    const runs = (await readRuns(connection, ids)).filter((run) => isWantedRun(run, rest))
    return pageOfRuns(runs, page).map(summaryOf)
  }
  if (filter.states?.length === 0 || filter.triggeredBy?.length === 0) return []
  if (page.orderBy === "id") return findById(connection, filter, page)
  const found: RunSummary[] = []
  const indexes = indexesFor(filter, page.orderBy)
  for (const index of indexes) found.push(...(await walkPage(connection, index, filter, page)))
  return indexes.length === 1 ? found : pageOfRuns(found, page)
}

/**
 * Several scripts if a page takes long to find. The order never changes, so a run that is not deleted is found by one of them.
 */
async function walkPage(connection: Connection, index: RunIndex, filter: RunFilter, page: RunPage) {
  const { after, from, until } = page
  const found: RunSummary[] = []
  let before: Place | null = after === null ? null : { at: after.at!, id: after.id }
  while (found.length < page.limit) {
    const limit = page.limit - found.length
    const about = { filter, before, from, until, limit, what: "runs" } as const
    const [isOver, at, id, rows] = await walk(connection, index, about)
    for (const row of rows) found.push(summaryIn(row))
    if (isOver === 1) break
    before = { at: at!, id: id! }
  }
  return found
}

async function findById(connection: Connection, filter: RunFilter, { after, limit }: RunPage) {
  const found: RunSummary[] = []
  let afterId = after?.id ?? null
  while (found.length < limit) {
    const wanted = Math.min(limit - found.length, SLICE)
    const [lastId, rows] = await connection.run<readonly [string | null, readonly Reply[]]>(BY_ID, [
      marked(afterId),
      wanted,
      ...wantedArgs(filter),
    ])
    for (const row of rows) found.push(summaryIn(row))
    if (lastId === null) break
    afterId = lastId
  }
  return found
}

function summaryIn(row: Reply): RunSummary {
  return summaryOf(readableRunOf(fieldsOf(row)))
}
