import assert from "node:assert/strict"
import { test } from "vitest"
import { DATE_MAX } from "../../core/sound.ts"
import type { Worker } from "../../store/store.ts"
import { readableWorker } from "./readable-worker.ts"

const SOUND: Worker = {
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

test("a sound record is read as it is", () => {
  assert.deepEqual(readableWorker(SOUND), SOUND)
})

test("a record that says nothing is a worker without tasks that was never heard of", () => {
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
] as const)("%s is %j where it can't be read, and the rest is as it was", (part, instead, damages) => {
  for (const damage of damages) {
    assert.deepEqual(readableWorker({ ...SOUND, [part]: damage }), { ...SOUND, [part]: instead })
  }
})

test("tasks that can be read are kept beside some that can't", () => {
  assert.deepEqual(readableWorker({ ...SOUND, tasks: ["a", null, "b"] }).tasks, ["a", "b"])
})

test.each([DATE_MAX, -DATE_MAX])("%d is an instant", (at) => {
  assert.equal(readableWorker({ ...SOUND, heartbeatAt: at }).heartbeatAt, at)
})
