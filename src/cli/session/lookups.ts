import { editDistance } from "../../core/values/edit-distance.ts"
import type { Client } from "../../scheduler/client.ts"
import { collected } from "../../scheduler/listing.ts"
import type { RunView, ScheduleView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"

const PAGE = 500

/** All schedules that match the filter, read page by page, up to the limit. */
export async function allSchedules(
  scheduler: Client,
  filter: { owner?: string; task?: string; tag?: string } = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly ScheduleView[]> {
  return collected(scheduler.schedules.list({ ...filter, limit: Math.max(1, Math.min(PAGE, limit)) }), limit)
}

/** Throws for an unknown id, with the most similar id as a suggestion. */
export async function scheduleOf(scheduler: Client, id: string): Promise<ScheduleView> {
  const schedule = await scheduler.schedules.get(id)
  if (schedule !== null) return schedule
  const near = nearestTo(
    id,
    (await allSchedules(scheduler, {}, 1_000)).map(({ id }) => id),
  )
  throw new CliError(
    EXIT.notFound,
    `There is no schedule "${id}".`,
    near === null
      ? "List the schedules: belfry schedule list"
      : `Did you mean ${near}? See: belfry schedule list`,
  )
}

/** Three ids for the message, and one more to know whether there are others. */
const MATCHES_READ = 4

/** By id, or by the beginning of an id if only one run matches. */
export async function runOf(scheduler: Client, id: string): Promise<RunView> {
  const exact = await scheduler.runs.get(id)
  if (exact !== null) return exact
  const matching = (await scheduler.runs.list({ idPrefix: id, limit: MATCHES_READ })).items
  const [only] = matching
  if (only !== undefined && matching.length === 1) return (await scheduler.runs.get(only.id)) ?? noRun(id)
  if (matching.length > 1) {
    const examples = matching.slice(0, 3).map((run) => run.id)
    throw new CliError(
      EXIT.usage,
      `Several runs begin with "${id}": ${examples.join(", ")}${matching.length > 3 ? ", …" : ""}.`,
      "Type more of the id.",
    )
  }
  return noRun(id)
}

function noRun(id: string): never {
  throw new CliError(
    EXIT.notFound,
    `There is no run "${id}".`,
    "List the runs: belfry run list. Old runs are deleted by age and count.",
  )
}

/** The most similar word. Null: no word is similar. */
export function nearestTo(word: string, words: readonly string[]): string | null {
  const most = Math.max(1, Math.floor(word.length / 3))
  let best: { word: string; distance: number } | null = null
  for (const candidate of words) {
    const distance = candidate.startsWith(word) ? 0.5 : editDistance(word, candidate, most)
    if (distance <= most && (best === null || distance < best.distance)) best = { word: candidate, distance }
  }
  return best?.word ?? null
}
