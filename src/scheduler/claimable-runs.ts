import { EARLIEST, type Instant } from "../core/time/instant.ts"
import type { Client } from "./client.ts"
import type { Page } from "./listing.ts"
import type { RunSummaryView } from "./views.ts"

export interface ClaimableRuns {
  /** Longest claimable first. */
  readonly runs: readonly RunSummaryView[]
  /** False if there are so many unfinished runs that not all were read. */
  readonly areAll: boolean
}

/** The limit of the first read. With fewer runs, one read finds all. */
const NEWEST_MAX = 1_000
const SLICE_MAX = 250

/**
 * Runs in this state that were created and claimable before an instant. Lists begin with the newest runs, and thousands of
 * delayed runs may be newer than a run that has waited for days. So if there are many, the older ones are read in slices, each
 * up to a limit.
 */
export async function claimableBefore(
  { runs }: Pick<Client, "runs">,
  state: "running" | "pending",
  { before, now }: { before: Instant; now: Instant },
): Promise<ClaimableRuns> {
  const newest = await runs.list({ state, until: before, limit: NEWEST_MAX })
  const slices = newest.next === null ? [] : slicesBefore(newest.items.at(-1)!.createdAt.getTime(), now)
  const pages: Page<RunSummaryView>[] = [{ ...newest, next: null }]
  for (const slice of slices) pages.push(await runs.list({ state, ...slice, limit: SLICE_MAX }))
  const found = new Map(pages.flatMap(({ items }) => items).map((run) => [run.id, run]))
  return {
    runs: [...found.values()].filter((run) => claimableAtOf(run) < before).sort(longestFirst),
    areAll: pages.every(({ next }) => next === null),
  }
}

const SLICES = 8
/** Each slice begins at four times the age of the next one. With the first at 5 minutes, the eighth begins at 227 days. */
const SLICE_GROWTH = 4

/** Slices of the time before `end`. `end` is included, because other runs of that instant may not have been read. */
function slicesBefore(end: Instant, now: Instant): readonly { since: Instant; until: Instant }[] {
  const slices: { since: Instant; until: Instant }[] = []
  let until = end + 1
  for (let index = 1; index <= SLICES; index++) {
    const ageMs = Math.max(1, now - end) * SLICE_GROWTH ** index
    const since = Math.max(EARLIEST, now - ageMs)
    slices.push({ since, until })
    until = since
  }
  return [...slices, { since: EARLIEST, until }]
}

function claimableAtOf({ claimableAt }: RunSummaryView): number {
  return claimableAt?.getTime() ?? Number.POSITIVE_INFINITY
}

function longestFirst(a: RunSummaryView, b: RunSummaryView): number {
  return claimableAtOf(a) - claimableAtOf(b)
}
