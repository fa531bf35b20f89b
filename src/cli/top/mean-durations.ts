import { DAY, MINUTE } from "../../core/time/instant.ts"
import type { Client } from "../../scheduler/client.ts"
import type { RunSummaryView } from "../../scheduler/views.ts"
import type { Io } from "../terminal/io.ts"

/** Long enough for schedules that run once a month. */
const HISTORY_MS = 31 * DAY
/** The mean of fewer runs says little. */
const RUNS_MIN = 3
/** At most this many schedules and tasks are read for one screen. The others follow with the next screens. */
const READS_MAX = 10
/** A mean changes slowly. */
const KEPT_MS = MINUTE
const KNOWN_MAX = 1_000

/** How long the runs of a schedule take on average, or without a schedule, those of the task: from the statistics. */
export class MeanDurations {
  readonly #known = new Map<string, { readonly ms: number | null; readonly readAt: number }>()

  /** Reads what isn't known yet for these runs. */
  async read(
    client: Pick<Client, "statistics">,
    { clock }: Io,
    runs: readonly RunSummaryView[],
  ): Promise<void> {
    const readAt = clock.monotonic()
    if (this.#known.size > KNOWN_MAX) this.#known.clear()
    const unknown = new Map(runs.map((run) => [subjectOf(run), run]))
    for (const subject of unknown.keys())
      if (readAt - (this.#known.get(subject)?.readAt ?? Number.NEGATIVE_INFINITY) < KEPT_MS)
        unknown.delete(subject)
    for (const [subject, { scheduleId, task }] of [...unknown].slice(0, READS_MAX)) {
      const of = scheduleId === null ? { task } : { schedule: scheduleId }
      const { total } = await client.statistics({ ...of, since: clock.now() - HISTORY_MS, span: "day" })
      const hasMean = total.succeeded + total.failed >= RUNS_MIN
      this.#known.set(subject, { ms: hasMean ? total.duration.meanMs : null, readAt })
    }
  }

  /** Null: it isn't known, or too few runs have ended. */
  of(run: RunSummaryView): number | null {
    return this.#known.get(subjectOf(run))?.ms ?? null
  }
}

function subjectOf({ scheduleId, task }: RunSummaryView): string {
  return scheduleId === null ? `task ${task}` : `schedule ${scheduleId}`
}
