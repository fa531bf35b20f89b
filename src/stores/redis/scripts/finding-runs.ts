import { type Run, UNFINISHED } from "../../../core/run.ts"
import type { RunFilter, RunPage } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { indexesFor, type RunIndex } from "../run-indexes.ts"
import { fieldsOf, readableRunOf } from "../run-rows.ts"
import { countRuns } from "./counting-runs.ts"
import { type Place, runsById, walk } from "./reading-runs.ts"

export async function findRuns(
  connection: Connection,
  filter: RunFilter,
  page: RunPage,
): Promise<readonly Run[]> {
  if (filter.ids !== undefined) return pageOf(await runsById(connection, filter), page)
  const found: Run[] = []
  const indexes = indexesFor(filter, page.orderBy)
  const atMost = await mostThereAre(connection, filter)
  for (const index of indexes) found.push(...(await walkPage(connection, index, filter, { ...page, atMost })))
  return indexes.length === 1 ? found : pageOf(found, page)
}

/** Few runs are unfinished, and most of those are new: who has found as many as there are need not look through the past. */
async function mostThereAre(connection: Connection, { states, task }: RunFilter): Promise<number> {
  if (states === undefined || !states.every((state) => UNFINISHED.includes(state)))
    return Number.POSITIVE_INFINITY
  const { pending, running } = await countRuns(connection, task === undefined ? { states } : { states, task })
  return pending + running
}

async function walkPage(
  connection: Connection,
  index: RunIndex,
  filter: RunFilter,
  page: RunPage & { readonly atMost: number },
) {
  const found: Run[] = []
  let before: Place | null = page.before
  while (found.length < Math.min(page.limit, page.atMost)) {
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
