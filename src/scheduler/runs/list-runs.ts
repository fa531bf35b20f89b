import type { Checked } from "../../core/options/checked.ts"
import type { RunSummary } from "../../core/run/run-summary.ts"
import type { Store } from "../../store/store.ts"
import { type Listing, listing } from "../listing.ts"
import { type RunSummaryView, runSummaryView } from "../views.ts"
import { type RUN_QUERY, runFilterOf } from "./run-options.ts"

/** Newest first. */
export function listRuns(
  { store, ready }: { store: Store; ready(): Promise<void> },
  query: Checked<typeof RUN_QUERY>,
): Listing<RunSummaryView> {
  const { since, until, cursor, limit = 50, error, ...filter } = query
  const order = {
    orderBy: filter.idPrefix === undefined ? "createdAt" : "id",
    ...(since === undefined ? {} : { from: since }),
    ...(until === undefined ? {} : { until }),
  } as const
  const text = error?.toLowerCase()
  const matches = (run: RunSummary) => text === undefined || run.error?.toLowerCase().includes(text) === true
  const name = `runs by ${order.orderBy}`
  return listing({
    name,
    limit,
    first: cursor?.(name) ?? null,
    read: async (after, size) => {
      await ready()
      return store.findRuns(runFilterOf(filter), { ...order, after, limit: size })
    },
    ...(text === undefined ? {} : { matches }),
    placeOf: ({ createdAt, id }) => ({ at: order.orderBy === "id" ? null : createdAt, id }),
    show: runSummaryView,
  })
}
