import { checked, checkedValue, type OptionSource } from "../core/checked.ts"
import { required } from "../core/kinds.ts"
import { LOOKUP, PAGE } from "../core/limits.ts"
import type { Client } from "./client.ts"
import { collected } from "./listing.ts"
import type { RunSummaryView, ScheduleView } from "./views.ts"

export interface Found {
  /** Whose id, task or description has the text in it. */
  readonly schedules: readonly ScheduleView[]
  /** Whose id begins with it. */
  readonly runs: readonly RunSummaryView[]
  /** That a worker offers, and whose name has it in it. */
  readonly tasks: readonly string[]
}

export const SEARCH_OPTIONS = { limit: PAGE }

const SOURCE: OptionSource = { code: "BELFRY_SCHEDULER_INVALID", subject: "search" }

export async function search(
  client: Pick<Client, "schedules" | "runs" | "workers">,
  given: string,
  options: { limit?: number },
): Promise<Found> {
  const text = checkedValue(given, required(LOOKUP), { source: SOURCE, option: "text" })
  const { limit = 10 } = checked(options, SEARCH_OPTIONS, SOURCE)
  const offered = new Set((await collected(client.workers({ limit: 1_000 }))).flatMap(({ tasks }) => tasks))
  const isMeant = (name: string) => name.toLowerCase().includes(text.toLowerCase())
  return {
    schedules: (await client.schedules.list({ text, limit })).items,
    runs: (await client.runs.list({ idPrefix: text, limit })).items,
    tasks: [...offered].filter(isMeant).sort().slice(0, limit),
  }
}
