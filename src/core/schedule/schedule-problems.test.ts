import assert from "node:assert/strict"
import { test } from "vitest"
import { problemsOf } from "./schedule-problems.ts"

const active = {
  task: "report",
  enabled: true,
  paused: null,
  finishedAt: null,
  lastError: null,
  nextRunAt: null,
  failuresInARow: 0,
  lastRunAt: null,
}
const paused = { at: 0, until: null, reason: null, by: null }
const noWorker = (message: string) => [{ kind: "no-worker", message }]

const CASES: readonly (readonly [string, object, readonly string[], readonly object[]])[] = [
  ["a schedule whose task is offered has none", {}, ["report", "vacuum"], []],
  [
    "a schedule whose task no worker offers has no-worker",
    {},
    ["vacuum"],
    noWorker('No worker that is online offers the task "report": its runs wait.'),
  ],
  [
    "a schedule without any online worker has no-worker",
    {},
    [],
    noWorker("No worker is online: its runs wait."),
  ],
  ["a paused schedule has none, because it makes no runs", { paused }, [], []],
  ["a disabled schedule has none", { enabled: false }, [], []],
  ["a finished schedule has none", { finishedAt: 0 }, [], []],
  [
    "a schedule that should have been fired has overdue",
    { nextRunAt: -120_001 },
    ["report"],
    [
      {
        kind: "overdue",
        message:
          'It was due at 1969-12-31T23:57:59.999Z and has not been fired. Check that a process with the role "fire" is running.',
      },
    ],
  ],
  [
    "a schedule that can't be planned has only broken, with the reason",
    { lastError: "No such zone." },
    [],
    [{ kind: "broken", message: "No such zone." }],
  ],
]

test.each(CASES)("the problems of a schedule: %s", (_, differs, offered, problems) => {
  assert.deepEqual(problemsOf({ ...active, ...differs }, new Set(offered), 0), problems)
})
