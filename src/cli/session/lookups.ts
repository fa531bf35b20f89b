import type { Client } from "../../scheduler/client.ts"
import { collected } from "../../scheduler/listing.ts"
import type { RunView, ScheduleView } from "../../scheduler/views.ts"
import { EXIT } from "../exit-codes.ts"
import { Refusal } from "../refusal.ts"

const PAGE = 500

/** Every schedule a filter lets through, page by page to the end, or up to a limit. */
export async function allSchedules(
  scheduler: Client,
  filter: { owner?: string; task?: string; tag?: string } = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly ScheduleView[]> {
  return collected(scheduler.schedules.list({ ...filter, limit: Math.max(1, Math.min(PAGE, limit)) }), limit)
}

/** A missing id is answered with the nearest there is. */
export async function scheduleOf(scheduler: Client, id: string): Promise<ScheduleView> {
  const schedule = await scheduler.schedules.get(id)
  if (schedule !== null) return schedule
  const near = nearestTo(
    id,
    (await allSchedules(scheduler, {}, 1_000)).map(({ id }) => id),
  )
  throw new Refusal(
    EXIT.notFound,
    `There is no schedule "${id}".`,
    near === null
      ? "See which there are: belfry schedule list"
      : `Did you mean ${near}? See: belfry schedule list`,
  )
}

/** As many as it takes to say which. */
const SOME = 4

/** By id, or by the beginning of one if only one run has it. */
export async function runOf(scheduler: Client, id: string): Promise<RunView> {
  const exact = await scheduler.runs.get(id)
  if (exact !== null) return exact
  const matching = (await scheduler.runs.list({ idPrefix: id, limit: SOME })).items
  const [only] = matching
  if (only !== undefined && matching.length === 1) return (await scheduler.runs.get(only.id)) ?? noRun(id)
  if (matching.length > 1) {
    const some = matching.slice(0, 3).map((run) => run.id)
    throw new Refusal(
      EXIT.usage,
      `Several runs begin with "${id}": ${some.join(", ")}${matching.length > 3 ? ", …" : ""}.`,
      "Type more of the one you mean.",
    )
  }
  return noRun(id)
}

function noRun(id: string): never {
  throw new Refusal(
    EXIT.notFound,
    `There is no run "${id}".`,
    "See which there are: belfry run list. History is pruned by age and count.",
  )
}

/** The most similar word, if one is similar at all. */
export function nearestTo(word: string, words: readonly string[]): string | null {
  const most = Math.max(1, Math.floor(word.length / 3))
  let best: { word: string; distance: number } | null = null
  for (const candidate of words) {
    const distance = candidate.startsWith(word) ? 0.5 : editDistance(word, candidate, most)
    if (distance <= most && (best === null || distance < best.distance)) best = { word: candidate, distance }
  }
  return best?.word ?? null
}

/** Levenshtein; anything above `most` is as good as infinite. */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return Number.POSITIVE_INFINITY
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(change, previous[j]! + 1, row[j - 1]! + 1))
    }
    previous = row
  }
  return previous[b.length]!
}
