import assert from "node:assert/strict"
import { test } from "vitest"
import { checksOf } from "./inspect.ts"

test.each([
  { fsync: "on", synchronousCommit: "on", result: "ok" },
  { fsync: "on", synchronousCommit: "remote_apply", result: "ok" },
  { fsync: "on", synchronousCommit: "off", result: "warning" },
  { fsync: "off", synchronousCommit: "on", result: "warning" },
])(
  "fsync $fsync with synchronous_commit $synchronousCommit is shown as $result",
  ({ result, ...settings }) => {
    const [server, persistence] = checksOf({ version: "15.18", ...settings })

    assert.deepEqual([server!.result, server!.message], ["ok", "PostgreSQL 15.18"])
    assert.equal(persistence!.result, result)
    assert.equal(persistence!.remedy === null, result === "ok")
  },
)
