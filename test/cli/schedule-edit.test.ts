import assert from "node:assert/strict"
import { join } from "node:path"
import { describe, test } from "vitest"
import type { ScheduleView } from "../../src/index.ts"
import { type Terminal, terminal } from "./support.ts"

describe("schedule edit", () => {
  async function withNightly(): Promise<Terminal> {
    const shell = terminal({ isTerminal: true })
    await shell.run("s", "create", "nightly", "--task", "t", "--cron", "30 2 * * *", "--timeout", "1m")
    return shell
  }
  const get = (shell: Terminal) => shell.json<ScheduleView>("schedule", "get", "nightly")

  test("the edited text is stored after confirmation", async () => {
    const shell = await withNightly()
    shell.edits = [(text) => text.replace("30 2", "0 4").replace(/ *timeout.*\n/, "")]
    shell.answers = ["y"]

    const { code, err } = await shell.run("schedule", "edit", "nightly")

    const { when, timeoutMs, revision } = await get(shell)
    assert.equal(code, 0, err)
    assert.match(
      err,
      /nightly: would change cron: "30 2 \* \* \*" → "0 4 \* \* \*", timeout: "1m" → not set\./,
    )
    assert.deepEqual([when, timeoutMs, revision], ["0 4 * * *", null, 2])
  })

  test("a mistake is reported and can be corrected; giving up changes nothing", async () => {
    const shell = await withNightly()
    shell.edits = [(text) => text.replace("30 2", "30 25"), (text) => text.replace("30 25", "30 5")]
    shell.answers = ["", "y"]
    const corrected = await shell.run("schedule", "edit", "nightly")
    shell.edits = [(text) => text.replace("id: nightly", "id: other")]
    shell.answers = ["n"]
    const givenUp = await shell.run("schedule", "edit", "nightly")

    assert.equal(corrected.code, 0, corrected.err)
    assert.match(corrected.err, /Hour "25" is out of range/)
    assert.equal(givenUp.code, 6)
    assert.equal((await get(shell)).when, "30 5 * * *")
  })

  test("with --yes no question is asked, the change is reported after it was made, and a mistake is an error", async () => {
    const shell = await withNightly()
    shell.edits = [(text) => text.replace("30 2", "0 4"), (text) => text.replace("0 4", "0 25")]

    const changed = await shell.run("schedule", "edit", "nightly", "-y")
    const refused = await shell.run("schedule", "edit", "nightly", "-y")

    assert.match(changed.err, /nightly: changed cron: "30 2 \* \* \*" → "0 4 \* \* \*"\./)
    assert.doesNotMatch(changed.err, /would/)
    assert.equal(refused.code, 6, refused.err)
    assert.deepEqual(shell.asked, [])
  })

  test("an edit by someone else in the meantime is a conflict; an unchanged text changes nothing", async () => {
    const shell = await withNightly()
    const store = join(shell.folder, "belfry.db")
    shell.edits = [
      async (text) => {
        await terminal().run("s", "set", "nightly", "--description", "x", "--store", store)
        return text.replace("30 2", "0 4")
      },
    ]
    shell.answers = ["y"]

    const { code, err } = await shell.run("schedule", "edit", "nightly")

    assert.equal(code, 5, err)
    assert.equal((await get(shell)).when, "30 2 * * *")
    assert.match((await shell.run("schedule", "edit", "nightly")).err, /Nothing was changed/)
    assert.equal((await terminal().run("schedule", "edit", "nightly", "--store", store)).code, 2)
  })
})
