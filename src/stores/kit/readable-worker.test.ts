import assert from "node:assert/strict"
import { test } from "vitest"
import { DATE_MAX } from "../../core/records/valid-records.ts"
import type { Worker } from "../../store/store.ts"
import { readableWorker } from "./readable-worker.ts"

const VALID: Worker = {
  id: "w1",
  host: "here",
  pid: 7,
  tasks: ["report"],
  slots: 10,
  state: "draining",
  startedAt: 1_000,
  heartbeatAt: 2_000,
  running: 3,
  roles: ["work"],
  version: "1.2.3",
  labels: { region: "eu" },
  expectedBy: 3_000,
}

test("a valid record is read unchanged", () => {
  assert.deepEqual(readableWorker(VALID), VALID)
})

test("an empty record is read as a worker without tasks or heartbeats", () => {
  assert.deepEqual(readableWorker({ id: "w1" }), {
    id: "w1",
    host: "",
    pid: 0,
    tasks: [],
    slots: 0,
    state: "active",
    startedAt: 0,
    heartbeatAt: 0,
    running: 0,
    roles: [],
    version: "",
    labels: {},
    expectedBy: 60_000,
  })
})

const NO_COUNT = [null, "7", -1, 1.5, 1e300, Number.NaN, [7], {}]
const NO_INSTANT = [null, "7", DATE_MAX + 1, -DATE_MAX - 1, Number.NaN, Number.POSITIVE_INFINITY, {}]

test.each([
  ["host", "", [null, 7, ["here"], {}]],
  ["pid", 0, NO_COUNT],
  ["tasks", [], [null, 7, "report", {}, [null], [7, ["report"]]]],
  ["slots", 0, NO_COUNT],
  ["state", "active", [null, 7, "paused", ["draining"]]],
  ["startedAt", 0, NO_INSTANT],
  ["heartbeatAt", 0, NO_INSTANT],
  ["running", 0, NO_COUNT],
] as const)("%s is %j if it can't be read, and the other fields are unchanged", (part, instead, damages) => {
  for (const damage of damages) {
    assert.deepEqual(readableWorker({ ...VALID, [part]: damage }), { ...VALID, [part]: instead })
  }
})

test("readable tasks are kept, and unreadable ones are left out", () => {
  assert.deepEqual(readableWorker({ ...VALID, tasks: ["a", null, "b"] }).tasks, ["a", "b"])
})

test.each([DATE_MAX, -DATE_MAX])("%d is an instant", (at) => {
  assert.equal(readableWorker({ ...VALID, heartbeatAt: at }).heartbeatAt, at)
})
