import type { Run } from "../../../core/run.ts"
import type { RunFilter, RunPage } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { indexesFor, type RunIndex } from "../run-indexes.ts"
import { fieldsOf, readableRunOf } from "../run-rows.ts"
import { type Place, runsById, walk } from "./reading-runs.ts"

export async function findRuns(
  connection: Connection,
  filter: RunFilter,
  page: RunPage,
): Promise<readonly Run[]> {
  if (filter.ids !== undefined) return pageOf(await runsById(connection, filter), page)
  const found: Run[] = []
  const indexes = indexesFor(filter, page.orderBy)
  for (const index of indexes) found.push(...(await walkPage(connection, index, filter, page)))
  return indexes.length === 1 ? found : pageOf(found, page)
}

/** Several looks where a page takes long to find. The order is by what never changes, so a run that stays is in one of them. */
async function walkPage(connection: Connection, index: RunIndex, filter: RunFilter, page: RunPage) {
  const found: Run[] = []
  let before: Place | null = page.before
  while (found.length < page.limit) {
    const limit = page.limit - found.length
    const [isOver, at, id, rows] = await walk(connection, index, { filter, before, limit, what: "runs" })
    for (const row of rows) found.push(readableRunOf(fieldsOf(row)))
    if (isOver === 1) break
    before = { at: at!, id: id! }
  }
  return found
}

function pageOf(runs: readonly Run[], { orderBy, before, limit }: RunPage): readonly Run[] {
  const isAfter = (run: Run) =>
    before === null || run[orderBy]! < before.at || (run[orderBy] === before.at && run.id < before.id)
  return runs
    .filter((run) => run[orderBy] !== null && isAfter(run))
    .sort((a, b) => b[orderBy]! - a[orderBy]! || (a.id < b.id ? 1 : -1))
    .slice(0, limit)
}
