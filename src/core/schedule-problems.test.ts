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
  ["one whose task is offered has none", {}, ["report", "vacuum"], []],
  [
    "one whose task nobody offers says so",
    {},
    ["vacuum"],
    noWorker('No worker that is online offers the task "report": its runs wait.'),
  ],
  ["without any worker that is said", {}, [], noWorker("No worker is online: its runs wait.")],
  ["one that is paused makes no runs", { paused }, [], []],
  ["nor does one that is disabled", { enabled: false }, [], []],
  ["nor one that has finished", { finishedAt: 0 }, [], []],
  [
    "one that should have been fired says so",
    { nextRunAt: -120_001 },
    ["report"],
    [
      {
        kind: "overdue",
        message:
          "It was due at 1969-12-31T23:57:59.999Z and has not been fired. Does anything run that fires?",
      },
    ],
  ],
  [
    "one that can't be planned says why, and no more",
    { lastError: "No such zone." },
    [],
    [{ kind: "broken", message: "No such zone." }],
  ],
]

test.each(CASES)("the problems of a schedule: %s", (_, differs, offered, problems) => {
  assert.deepEqual(problemsOf({ ...active, ...differs }, new Set(offered), 0), problems)
})
