import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { BelfryError, memory } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { getSchedule, withNightly } from "./nightly.ts"
import { terminal } from "./support.ts"

const SOURCE = new URL("../../src/index.ts", import.meta.url)

/** A configuration with one task. */
function configWith(task: string): string {
  return `import { defineTask } from "${SOURCE}"\nexport default { tasks: [defineTask({ run() {}, ${task} })] }\n`
}

describe("files", () => {
  test("an export applies without changes, as YAML and as JSON", async () => {
    const shell = await withNightly()
    await shell.run(
      "s",
      "create",
      "ping",
      "--task",
      "http",
      "--every",
      "90s",
      "--payload",
      '{"url":"https://example.com"}',
      "--timeout",
      "1m",
    )
    for (const format of ["yaml", "json"]) {
      shell.input = (await shell.run("export", "--format", format)).out

      assert.equal((await shell.run("diff", "-f", "-")).code, 0, shell.input)
    }
    assert.match((await shell.run("export", "--task", "http")).out, /every: 90s\n {4}timeout: 1m\n/)
  })

  test.each([
    ["yaml", /id: by-hand/, /id: declared/],
    ["json", /"id": "by-hand"/, /"id": "declared"/],
    ["ts", /by-hand/, /declared/],
    ["crontab", /by-hand/, /declared/],
  ])(
    "export --format %s leaves out schedules that are declared in code; --all includes them",
    async (...given) => {
      const [format, byHand, declared] = given
      const shell = terminal()
      const entry = {
        id: "declared",
        task: "http",
        cron: "0 5 * * *",
        payload: { url: "https://example.com" },
      }
      shell.write("belfry.config.json", JSON.stringify({ schedules: [entry] }))
      const ended = shell.run("start")
      await shell.shows(/is running/)
      shell.signal("SIGTERM")
      await ended
      await shell.run("s", "create", "by-hand", "--task", "t", "--cron", "0 4 * * *")

      const exported = await shell.run("export", "--format", format)
      const all = await shell.run("export", "--format", format, "--all")

      assert.equal(exported.code, 0)
      assert.match(exported.out, byHand)
      assert.doesNotMatch(exported.out, declared)
      assert.match(
        exported.err,
        /^1 schedule that is declared in code is left out\. To include .* add --all\.\n$/,
      )
      assert.match(all.out, byHand)
      assert.match(all.out, declared)
      assert.equal(all.err, "")
    },
  )

  test("an export without schedules can be applied", async () => {
    const shell = await withNightly()
    shell.input = (await shell.run("export", "--task", "none")).out

    const applied = await shell.run("apply", "-f", "-")

    assert.equal(applied.code, 0, applied.err)
  })

  test("apply creates a schedule after the schedules it depends on, in any order of the file", async () => {
    const shell = await withNightly()
    shell.input =
      "- {id: b, task: t, every: 5m, dependsOn: [{schedule: a, within: 1h}]}\n- {id: a, task: t, every: 5m}\n"

    const applied = await shell.run("apply", "-f", "-")

    assert.equal(applied.code, 0, applied.err)
  })

  test("files with a dependency cycle are refused, and the error has the cycle", async () => {
    const shell = await withNightly()
    shell.input =
      "- {id: a, task: t, every: 5m, dependsOn: [{schedule: b, within: 1h}]}\n- {id: b, task: t, every: 5m, dependsOn: [{schedule: a, within: 1h}]}\n"

    const applied = await shell.run("apply", "-f", "-")

    assert.equal(applied.code, 6)
    assert.match(applied.err, /Schedule "a": dependsOn makes a cycle: a → b → a\./)
    assert.equal((await shell.run("schedule", "list", "-o", "name")).out, "nightly\n")
  })

  test("apply creates, changes and prunes by tag; diff exits 1 before and 0 after", async () => {
    const shell = await withNightly()
    await shell.run("s", "create", "old", "--task", "t", "--every", "1h", "--tag", "team")
    shell.write(
      "s.yaml",
      "schedules:\n  - {id: nightly, task: report, cron: 0 4 * * *}\n  - {id: new, task: t, every: 5m, tags: [team]}\n",
    )

    const diff = await shell.run("diff", "-f", "s.yaml", "--no-headers")
    const dry = await shell.run("apply", "-f", "s.yaml", "--dry-run")
    const values = await shell.run("apply", "-f", "s.yaml", "--dry-run", "--diff", "--no-headers")
    const applied = await shell.run("apply", "-f", "s.yaml", "--prune", "-l", "team", "--yes")

    assert.equal(diff.code, 1)
    assert.match(diff.out, /^nightly\tchange\tcron, timezone\nnew\tcreate\t\n$/)
    assert.match(dry.err, /1 created, 1 changed.*Nothing was changed/)
    assert.match(
      values.out,
      /^nightly\tchange\tcron: "30 2 \* \* \*" → "0 4 \* \* \*", timezone: "Europe\/Berlin" → not set\n/,
    )
    assert.match(applied.err, /1 created, 1 changed, 0 the same, 1 deleted/)
    assert.equal((await shell.run("diff", "-f", "s.yaml")).code, 0)
    assert.equal((await getSchedule(shell)).timezone, "UTC")
  })

  test("a failed step is reported with its reason, and the other steps are done", async () => {
    const store: Store = { ...memory(), close: async () => undefined }
    const broken: Store = {
      ...store,
      putSchedule: async (schedule, ifVersion) =>
        schedule.id === "b" ? { outcome: "stale", version: 9 } : store.putSchedule(schedule, ifVersion),
    }
    const shell = terminal({ openStore: () => broken })
    shell.write("s.yaml", ["a", "b", "c"].map((id) => `- {id: ${id}, task: t, every: 5m}\n`).join(""))

    const { code, out, err } = await shell.run("apply", "-f", "s.yaml", "--no-headers")

    assert.equal(code, 5)
    assert.equal(out, 'a\tcreate\t\nb\tfailed\tcreate: Schedule "b" already exists.\nc\tcreate\t\n')
    assert.match(err, /2 created, .* 1 failed\. The other changes were made/)
  })

  test("if one schedule is refused, apply says that the others were not tried", async () => {
    const shell = terminal()
    shell.write(
      "s.yaml",
      "- {id: good, task: t, every: 5m}\n- {id: bad, task: t, every: 5m, dependsOn: [{schedule: nowhere, within: 1h}]}\n",
    )

    const real = await shell.run("apply", "-f", "s.yaml", "--no-headers")
    const dry = await shell.run("apply", "-f", "s.yaml", "--no-headers", "--dry-run")
    const json = await shell.run("apply", "-f", "s.yaml", "--json")

    assert.match(real.out, /^good\tnot tried\tanother schedule's problem stopped it\nbad\tfailed\t/)
    assert.match(real.err, /0 created, .* 1 failed, 1 not tried\. Nothing was changed\./)
    assert.deepEqual([dry.code, dry.out, dry.err], [real.code, real.out, real.err])
    const actions = (JSON.parse(json.out) as { action: string }[]).map(({ action }) => action)
    assert.deepEqual(actions, ["not tried", "failed"])
  })

  test("if the store becomes unavailable, apply reports which steps were done and which were not", async () => {
    const store: Store = { ...memory(), close: async () => undefined }
    const gone: Store = {
      ...store,
      putSchedule: async (schedule, ifVersion) => {
        if (schedule.id === "b") throw new BelfryError("BELFRY_STORE_UNAVAILABLE", "It is away.")
        return store.putSchedule(schedule, ifVersion)
      },
    }
    const shell = terminal({ openStore: () => gone })
    shell.write("s.yaml", ["a", "b", "c"].map((id) => `- {id: ${id}, task: t, every: 5m}\n`).join(""))

    const { code, out } = await shell.run("apply", "-f", "s.yaml", "--no-headers")

    assert.equal(code, 7)
    assert.equal(
      out,
      "a\tcreate\t\nb\tfailed\tcreate: It is away.\nc\tnot tried\tanother schedule's problem stopped it\n",
    )
  })

  test.each([
    [["apply", "-f", "s.yaml", "--dry-run"]],
    [["apply", "-f", "s.yaml"]],
    [["diff", "-f", "s.yaml"]],
    [["s", "create", "b", "--task", "bare", "--every", "1h", "--payload", "{}", "--dry-run"]],
    [["s", "create", "b", "--task", "bare", "--every", "1h", "--payload", "{}"]],
    [["s", "set", "old", "--payload", '{"a":1}', "--dry-run"]],
    [["s", "set", "old", "--payload", '{"a":1}']],
    [["task", "run", "bare", "--payload", "{}", "--dry-run"]],
    [["task", "run", "bare", "--payload", "{}"]],
  ])("%j refuses a payload for a task that takes none, and changes nothing", async (argv) => {
    const shell = terminal()
    await shell.run("s", "create", "old", "--task", "bare", "--every", "1h")
    shell.write("belfry.config.mjs", configWith("name: 'bare'"))
    shell.write(
      "s.yaml",
      "- {id: a, task: t, every: 5m}\n- {id: b, task: bare, every: 5m, payload: {uri: x}}\n",
    )

    const { code, err } = await shell.run(...argv)

    assert.equal(code, 6, err)
    assert.match(err, /Task "bare" takes no payload: it has no schema\. Received an object/)
    assert.equal((await shell.run("s", "list", "-o", "name")).out, "old\n")
  })

  test.each([
    [["apply", "-f", "s.yaml", "--dry-run"]],
    [["apply", "-f", "s.yaml"]],
    [["s", "create", "b", "--task", "picky", "--every", "1h", "--dry-run"]],
    [["s", "set", "old", "--payload", "null", "--dry-run"]],
  ])("%j lets the task examine the payload", async (argv) => {
    const shell = terminal()
    await shell.run("s", "create", "old", "--task", "picky", "--every", "1h")
    shell.write(
      "belfry.config.mjs",
      configWith("name: 'picky', examine() { throw new Error('there is no such function') }"),
    )
    shell.write("s.yaml", "- {id: b, task: picky, every: 5m}\n")

    const { code, err } = await shell.run(...argv)

    assert.equal(code, 6, err)
    assert.match(err, /Payload of task "picky" can't be used: there is no such function/)
    assert.equal((await shell.run("s", "list", "-o", "name")).out, "old\n")
  })

  test("a stored payload for a task that no longer takes a payload is no difference", async () => {
    const shell = terminal()
    await shell.run("s", "create", "old", "--task", "bare", "--every", "1h", "--payload", '{"a":1}')
    shell.write("belfry.config.mjs", configWith("name: 'bare'"))
    shell.write("s.yaml", "- {id: old, task: bare, every: 1h, payload: {a: 1}}\n")

    for (const argv of [
      ["apply", "-f", "s.yaml", "--dry-run"],
      ["apply", "-f", "s.yaml"],
    ]) {
      const { code, err } = await shell.run(...argv)

      assert.equal(code, 0, err)
      assert.match(err, /1 the same/)
    }
  })

  test.each([
    [["apply", "-f", "s.yaml", "--dry-run"]],
    [["apply", "-f", "s.yaml"]],
    [["diff", "-f", "s.yaml"]],
    [["s", "create", "b", "--task", "http", "--every", "1h", "--payload", "{}", "--dry-run"]],
    [["s", "set", "ping", "--payload", '{"url":1}', "--dry-run"]],
  ])("%j refuses a payload that is invalid by the task's schema, and changes nothing", async (argv) => {
    const shell = terminal()
    const url = "https://example.com"
    await shell.run("s", "create", "ping", "--task", "http", "--every", "1h", "--payload", `{"url":"${url}"}`)
    shell.write(
      "s.yaml",
      "- {id: a, task: t, every: 5m}\n- {id: b, task: http, every: 5m, payload: {uri: x}}\n",
    )

    const { code, err } = await shell.run(...argv)

    assert.equal(code, 6, err)
    assert.match(err, /Payload of task "http" is invalid at ur[il]/)
    assert.equal((await shell.run("s", "list", "-o", "name")).out, "ping\n")
  })

  test.each([
    ["schedules: [", 6, /can't be read/],
    ["schedules:\n  - task: t\n", 6, /Schedule 1 in .*s\.yaml has no id/],
    [
      "- {id: a, task: t, every: 5m}\n- {task: t, every: 5m}\n- {id: c, every: 5m}",
      6,
      /Schedule 2 in .*s\.yaml has no id\. Schedule "c" in .*s\.yaml has no task\./,
    ],
    ["hello: there", 6, /contains no schedules/],
    ["- {id: a, task: t, every: 5m}\n- {id: a, task: t, every: 6m}", 6, /again in/],
    ["- {id: a, task: t, evry: 5m}", 6, /evry is not an option/],
    ["- {id: a, task: t, every: 5m}\n- {id: b, task: t, cron: 0 25 * * *}", 6, /Hour "25"/],
  ])("a bad file changes nothing: %s", async (text, code, message) => {
    const shell = await withNightly()
    shell.write("s.yaml", text)

    const answer = await shell.run("apply", "-f", "s.yaml")

    assert.equal(answer.code, code, answer.err)
    assert.match(answer.err, message)
    assert.equal((await shell.json<object[]>("schedule", "list")).length, 1)
  })
})
