import type { LedgerEntry } from "../../scheduler/schedules/ledger.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import type { RowFormat } from "./output.ts"
import { commandWord } from "./printable.ts"
import { stateColour, stateIcon } from "./run-rows.ts"
import { bothWords, isoOrDash, spanWords } from "./time-text.ts"

/** Past occurrences as rows. `-o name` prints the run ids. */
export function ledgerRows(
  call: Call,
  { id, timezone }: Pick<ScheduleView, "id" | "timezone">,
): RowFormat<LedgerEntry> {
  const now = call.io.clock.now()
  const zones = { own: timezone, viewer: call.io.zone }
  const at = ({ scheduledFor }: LedgerEntry) => bothWords(scheduledFor.getTime(), zones, now)
  return {
    columns: [
      { header: "SCHEDULED FOR", text: ({ scheduledFor }) => isoOrDash(scheduledFor), brief: at, isId: true },
      {
        header: "OUTCOME",
        text: ({ outcome }) => outcome,
        brief: ({ outcome }) => `${stateIcon(outcome)} ${outcome}`,
        paint: ({ outcome }) => stateColour(outcome),
      },
      {
        header: "REASON",
        text: (entry) => entry.reason ?? "-",
        brief: reasonWords,
        isLeftOutIfEmpty: true,
      },
      { header: "COUNT", text: ({ count }) => String(count), brief: countWords, isLeftOutIfEmpty: true },
      {
        header: "LATE",
        dropOrder: 1,
        text: ({ latenessMs }) => (latenessMs === null ? "-" : String(latenessMs)),
        brief: ({ latenessMs }) => (latenessMs === null ? "" : spanWords(latenessMs)),
        isRight: true,
      },
      { header: "RUN", text: ({ runId }) => runId, isForPrograms: true, isId: true },
      { header: "MESSAGE", text: ({ message }) => message ?? "", below: "cut" },
    ],
    nameOf: ({ runId }) => runId,
    none: `No occurrence so far. Manual runs: belfry run list --schedule ${commandWord(id)}. Next occurrences: belfry schedule next ${commandWord(id)}`,
  }
}

/** A retried run has the reason of its retry. Beside its end, that would read as the cause of the end. */
function reasonWords({ outcome, reason }: LedgerEntry): string {
  const isOfRetry = (outcome === "failed" || outcome === "succeeded") && reason !== "lost"
  return reason === null || isOfRetry ? "" : reason
}

function countWords({ count, standsFor }: LedgerEntry): string {
  if (count > 1) return `${count} in a row`
  return standsFor > 1 ? `for ${standsFor}` : ""
}
