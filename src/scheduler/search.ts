import { checked, checkedValue, type OptionSource } from "../core/options/checked.ts"
import { LOOKUP, PAGE } from "../core/options/limits.ts"
import { required } from "../core/options/option-types.ts"
import type { Client } from "./client.ts"
import { collected } from "./listing.ts"
import type { RunSummaryView, ScheduleView } from "./views.ts"

export interface SearchResult {
  /** Schedules with the text in their id, task or description. */
  readonly schedules: readonly ScheduleView[]
  /** Runs whose id begins with the text. */
  readonly runs: readonly RunSummaryView[]
  /** Tasks that a worker offers, with the text in their name. */
  readonly tasks: readonly string[]
}

export const SEARCH_OPTIONS = { limit: PAGE }

const SOURCE: OptionSource = { code: "BELFRY_SCHEDULER_INVALID", subject: "search" }

export async function search(
  client: Pick<Client, "schedules" | "runs" | "workers">,
  given: string,
  options: { limit?: number },
): Promise<SearchResult> {
  const text = checkedValue(given, required(LOOKUP), { source: SOURCE, option: "text" })
  const { limit = 10 } = checked(options, SEARCH_OPTIONS, SOURCE)
  const offered = new Set((await collected(client.workers({ limit: 1_000 }))).flatMap(({ tasks }) => tasks))
  const matches = (name: string) => name.toLowerCase().includes(text.toLowerCase())
  return {
    schedules: (await client.schedules.list({ text, limit })).items,
    runs: (await client.runs.list({ idPrefix: text, limit })).items,
    tasks: [...offered].filter(matches).sort().slice(0, limit),
  }
}
