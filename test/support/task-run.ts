import type { Json } from "../../src/index.ts"
import { validatePayload } from "../../src/task/payload.ts"
import type { AnyTask } from "../../src/task/task.ts"
import type { RunInfo } from "../../src/task/task-context.ts"

export interface Report {
  readonly success: boolean
  readonly message: string
  readonly details: Readonly<Record<string, Json>>
}

/** One attempt of a ready-made task. Checks the payload like a worker, and collects the log. */
export function performTask(
  task: AnyTask,
  payload: Json,
  about: { run?: Partial<RunInfo>; signal?: AbortSignal } = {},
): { ended: Promise<Report>; lines: string[] } {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const run = { ...A_RUN, ...about.run }
  const context = {
    run,
    signal: about.signal ?? new AbortController().signal,
    log: { debug: write, info: write, warn: write, error: write },
    progress: () => undefined,
    complete: () => Promise.reject(new Error("no transactions here")),
    lastSuccess: async () => null,
  }
  const ended = validatePayload(task, payload).then((checked) => task.run({ ...context, payload: checked }))
  return { ended: ended as Promise<Report>, lines }
}

const A_RUN: RunInfo = {
  id: "nightly@2026-01-01T00:00:00.000Z",
  attempt: 1,
  isLastAttempt: false,
  task: "task",
  scheduleId: "nightly",
  scheduledFor: new Date("2026-01-01T00:00:00Z"),
  triggeredBy: "schedule",
  standsFor: 1,
  missed: null,
}
