import type { RunState } from "../../core/run/run.ts"
import type { RunSummaryView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import type { RowFormat } from "./output.ts"
import type { Colour } from "./table.ts"
import { distanceWords, isoOrDash, spanWords } from "./time-text.ts"

const ICONS: Readonly<Record<RunState, string>> = {
  pending: "◔",
  running: "▶",
  succeeded: "✓",
  failed: "✕",
  cancelled: "⊘",
  skipped: "⤼",
}

const COLOURS: Readonly<Record<RunState, Colour | null>> = {
  pending: null,
  running: "cyan",
  succeeded: "green",
  failed: "red",
  cancelled: "yellow",
  skipped: "dim",
}

export function stateIcon(state: RunState): string {
  return ICONS[state]
}

export function stateColour(state: RunState): Colour | null {
  return COLOURS[state]
}

/** Runs as rows. `-o name` prints ids. */
export function runRows(call: Call, none = "No run matches."): RowFormat<RunSummaryView> {
  const now = call.io.clock.now()
  return {
    columns: [
      { header: "RUN", text: ({ id }) => id, paint: () => "bold", isId: true },
      {
        header: "STATE",
        text: ({ state }) => state,
        brief: ({ state }) => `${ICONS[state]} ${state}`,
        paint: ({ state }) => COLOURS[state],
      },
      { header: "TASK", text: ({ task }) => task, dropOrder: 2 },
      {
        header: "CREATED",
        text: ({ createdAt }) => isoOrDash(createdAt),
        brief: ({ createdAt }) => distanceWords(createdAt.getTime(), now),
      },
      {
        header: "TOOK",
        text: (run) => String(tookMs(run, now) ?? "-"),
        brief: (run) => tookWords(run, now),
        isRight: true,
      },
      { header: "TRY", text: ({ attempt }) => String(attempt), isRight: true, dropOrder: 1 },
      { header: "SCHEDULE", text: ({ scheduleId }) => scheduleId ?? "-", isWide: true },
      { header: "SCHEDULED FOR", text: ({ scheduledFor }) => isoOrDash(scheduledFor), isWide: true },
      { header: "TRIGGERED BY", text: ({ triggeredBy }) => triggeredBy, isWide: true },
      { header: "WORKER", text: ({ workerId }) => workerId ?? "-", isWide: true },
      { header: "MESSAGE", text: messageOf, below: "cut" },
    ],
    nameOf: ({ id }) => id,
    none,
  }
}

/** The duration. For a running run: the time since its start. */
export function tookMs({ state, startedAt, durationMs }: RunSummaryView, now: number): number | null {
  if (state === "running" && startedAt !== null) return Math.max(0, now - startedAt.getTime())
  return durationMs
}

export function tookWords(run: RunSummaryView, now: number): string {
  const ms = tookMs(run, now)
  return ms === null ? "" : spanWords(ms)
}

/** The progress, message, error or reason of a run, in one line. */
export function messageOf(run: RunSummaryView): string {
  const { state, message, error, reason, progress } = run
  if (state === "running") {
    // The stored message, error and reason belong to the previous attempt.
    if (progress === null) return ""
    return `${Math.round(progress.fraction * 100)} %${progress.message === null ? "" : ` ${progress.message}`}`
  }
  return message ?? error?.split("\n")[0] ?? reason ?? ""
}
