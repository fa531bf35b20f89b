import assert from "node:assert/strict"
import { describe, test } from "vitest"
import type { RunView } from "../../src/index.ts"
import { FAR_AWAY, NIGHTLY } from "./nightly.ts"
import { type Terminal, terminal } from "./support.ts"

const SOURCE = new URL("../../src/index.ts", import.meta.url)

/** A task with the payload `{ n }`, a number. Its schedule has a cancelled run and a pending run. */
async function withStrictTask(): Promise<Terminal> {
  const shell = terminal()
  shell.write(
    "belfry.config.mjs",
    `import { defineTask } from "${SOURCE}"
const validate = (value) =>
  typeof value?.n === "number" ? { value } : { issues: [{ message: "n must be a number", path: ["n"] }] }
const payload = { "~standard": { version: 1, vendor: "test", validate } }
export default { tasks: [defineTask({ name: "report", payload, run() {} })] }
`,
  )
  await done(shell, "s", "create", "nightly", ...NIGHTLY, ...FAR_AWAY, "--payload", '{"n":1}')
  await done(shell, "s", "trigger", "nightly")
  await done(shell, "run", "cancel", "--schedule", "nightly", "--yes")
  await done(shell, "s", "trigger", "nightly")
  return shell
}

async function done(shell: Terminal, ...argv: string[]): Promise<void> {
  const { code, err } = await shell.run(...argv)
  assert.equal(code, 0, err)
}

const REFUSED: readonly (readonly string[])[] = [
  ["s", "create", "nightly", ...NIGHTLY, "--payload", '{"n":1}'],
  ["s", "create", "other", ...NIGHTLY, "--payload", '{"n":"x"}'],
  ["s", "create", "other", "--task", "t", "--at", "2001-01-01T00:00Z"],
  ["s", "set", "nightly", "--payload", '{"n":"x"}'],
  ["s", "set", "nightly", "--if-revision", "7", "--cron", "0 3 * * *"],
  ["s", "pause", "nightly", "--until", "2001-01-01T00:00Z"],
  ["s", "skip", "nightly", "2090-06-02 12:34"],
  ["s", "move", "nightly", "--to", "2001-01-01T00:00Z"],
  ["s", "trigger", "nightly"],
  ["s", "trigger", "nightly", "--payload", '{"n":"x"}', "--overlap", "allow"],
  ["s", "trigger", "nightly", "--set", "n=abc", "--overlap", "allow"],
  ["s", "trigger", "nightly", "--as-of", "2090-01-01T00:00Z", "--overlap", "allow"],
  ["task", "run", "report", "--payload", '{"n":"x"}'],
  ["run", "retry", "CANCELLED"],
  ["run", "retry", "CANCELLED", "--payload", '{"n":"x"}'],
  ["run", "cancel", "CANCELLED"],
  ["run", "release", "CANCELLED"],
  ["apply", "-f", "needs.yaml"],
]

describe("a dry run is refused with the same message and exit code as the command", () => {
  test.each(REFUSED.map((argv) => [argv.join(" "), argv] as const))("%s", async (_title, argv) => {
    const shell = await withStrictTask()
    shell.write("needs.yaml", NEEDS)
    const [, cancelled] = await shell.json<RunView[]>("run", "list")
    const words = argv.map((word) => (word === "CANCELLED" ? cancelled!.id : word))
    const before = await contents(shell)

    const dry = await shell.run(...words, "--dry-run")
    const stored = await contents(shell)
    const real = await shell.run(...words)

    assert.notEqual(real.code, 0)
    assert.deepEqual([dry.code, dry.err], [real.code, real.err])
    assert.deepEqual(stored, before)
  })
})

const NEEDS = `
- { id: first, task: t, every: 5m }
- { id: second, task: t, every: 5m, dependsOn: [{ schedule: nowhere, within: 1h }] }
`

test("apply changes nothing if one of the schedules would be refused", async () => {
  const shell = await withStrictTask()
  const before = await contents(shell)

  for (const [text, why] of [
    [NEEDS, /nowhere/],
    [
      "- { id: first, task: t, every: 5m }\n- { id: second, task: report, every: 5m, payload: { n: x } }",
      /second/,
    ],
  ] as const) {
    shell.input = text
    const { code, out, err } = await shell.run("apply", "-f", "-", "--yes")

    assert.equal(code, 6)
    assert.match(out + err, why)
    assert.deepEqual(await contents(shell), before)
  }
})

async function contents(shell: Terminal): Promise<unknown> {
  return [await shell.json("s", "list"), await shell.json("run", "list")]
}
