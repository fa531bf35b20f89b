import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { type Terminal, terminal } from "./support.ts"

/** A long id, as in practice. Run ids are longer by a time or a UUID. */
const LONG = "billing-nightly-reconciliation-eu-central-1"

async function filled(columns: number): Promise<Terminal> {
  const shell = terminal({ isTerminal: true, columns })
  for (const key of ["nightly", LONG]) {
    const task = ["--task", "billing-reconciliation"]
    await shell.run("schedule", "create", key, ...task, "--cron", "30 2 * * MON-FRI", "--tz", "Europe/Berlin")
    await shell.run("schedule", "trigger", key, "--reason", "after the outage")
  }
  return shell
}

describe.each([80, 120])("on a terminal of %i columns", (columns) => {
  test.each([
    [["schedule", "list"]],
    [["run", "list"]],
    [["stats", "--by", "schedule"]],
    [["top", "--once"]],
    [["schedule", "occurrences", LONG]],
    [["task", "list"]],
    [["config", "explain"]],
  ])("%j fits, and no id is cut", async (argv) => {
    const shell = await filled(columns)

    const { code, out } = await shell.run(...argv)

    assert.equal(code, 0)
    assert.deepEqual(
      out.split("\n").filter((line) => [...line].length > columns),
      [],
    )
    if (argv[0] === "top") assert.match(out, /\? help {2}q quit$/m)
    if (argv[0] === "config" || argv[0] === "task" || argv[0] === "stats" || argv[1] === "occurrences") return
    const ids = (await shell.run(argv[0] === "run" ? "run" : "schedule", "list", "-o", "name")).out
    const plain = out.replaceAll("\n", "")
    for (const id of ids.trim().split("\n")) assert.ok(plain.includes(id), `${id} in\n${out}`)
  })
})
