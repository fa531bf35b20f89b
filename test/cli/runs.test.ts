import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask, type RunView, type ScheduleView } from "../../src/index.ts"
import { silentLogger } from "../../src/runtime/logger.ts"
import { createScheduler } from "../../src/scheduler/create-scheduler.ts"
import { sqlite } from "../../src/sqlite.ts"
import { type Terminal, terminal } from "./support.ts"

/** Three failed runs of `report`. Their worker is stopped. */
async function withFailures(
  options?: Parameters<typeof terminal>[0],
  overlap: "allow" | "skip" = "allow",
): Promise<Terminal> {
  const shell = terminal(options)
  const report = defineTask({
    name: "report",
    retry: { attempts: 1 },
    run: () => {
      throw new Error("ECONNRESET by peer")
    },
  })
  const scheduler = createScheduler({
    store: sqlite(`${shell.folder}/belfry.db`),
    tasks: [report],
    logger: silentLogger,
  })
  await scheduler.schedules.create("nightly", { task: "report", cron: "0 0 1 1 *", overlap })
  await scheduler.start({ roles: ["work"] })
  for (let made = 0; made < 3; made++) {
    const { runId } = await scheduler.schedules.trigger("nightly", { asOf: `2026-01-0${made + 1}T00:00:00Z` })
    await scheduler.runs.wait(runId, { timeout: "10m" })
  }
  await scheduler.stop()
  return shell
}

const states = async (shell: Terminal) =>
  (await shell.json<RunView[]>("run", "list")).map(({ state }) => state)

test("schedule list --status failing shows the schedules whose last run failed", async () => {
  const shell = await withFailures()
  await shell.run("s", "create", "fine", "--task", "report", "--every", "1h")

  const failing = await shell.json<ScheduleView[]>("s", "list", "--status", "failing")

  assert.deepEqual(
    failing.map(({ id, lastState, failuresInARow }) => [id, lastState, failuresInARow]),
    [["nightly", "failed", 3]],
  )
})

describe("run list by filter", () => {
  test("filters by time, worker and parent", async () => {
    const shell = await withFailures()
    const listed = async (...flags: string[]) => (await shell.json<RunView[]>("run", "list", ...flags)).length

    assert.equal(await listed("--since", "1h", "--until", "0s"), 3)
    assert.equal(await listed("--until", "1h"), 0)
    assert.equal(await listed("--worker", "nobody"), 0)
    assert.equal(await listed("--parent", "nothing"), 0)
  })
})

describe("run retry and cancel by filter", () => {
  test("a dry run lists the runs, and changes nothing", async () => {
    const shell = await withFailures()

    const dry = await shell.run("run", "retry", "--error", "econnreset", "--dry-run", "--no-headers")

    assert.equal(dry.code, 0, dry.err)
    assert.match(dry.err, /Would retry 3 runs\. Nothing was changed/)
    assert.equal(dry.out.trim().split("\n").length, 3)
    assert.deepEqual(await states(shell), ["failed", "failed", "failed"])
  })

  test("without a terminal --yes is required; then all matching runs are retried, or cancelled", async () => {
    const shell = await withFailures()

    const unasked = await shell.run("run", "retry", "--since", "1h")
    const retried = await shell.run("run", "retry", "--since", "1h", "--yes", "-o", "name")
    const waiting = await states(shell)
    const cancelled = await shell.run("run", "cancel", "--schedule", "nightly", "--yes", "-n", "2")

    assert.equal(unasked.code, 2)
    assert.match(unasked.err, /nightly\+.*[\s\S]*Retry 3 runs\? There is no terminal to ask on[\s\S]*--yes/)
    assert.equal(retried.out.trim().split("\n").length, 3)
    assert.deepEqual(waiting, ["pending", "pending", "pending"])
    assert.match(cancelled.err, /There may be more than 2/)
    assert.deepEqual((await states(shell)).sort(), ["cancelled", "cancelled", "pending"])
  })

  test("on a terminal the runs are listed and a confirmation is needed, also for a single run", async () => {
    const shell = await withFailures({ isTerminal: true })
    shell.answers = ["n", "y"]

    const declined = await shell.run("run", "retry", "--status", "failed", "-n", "1")
    const confirmed = await shell.run("run", "retry", "--status", "failed", "-n", "1")

    assert.equal(declined.code, 2)
    assert.equal(confirmed.code, 0, confirmed.err)
    assert.deepEqual((await states(shell)).sort(), ["failed", "failed", "pending"])
  })

  test.each([
    [["run", "retry"], 2, /No run was given/],
    [["run", "retry", "--status", "succeeded"], 6, /runs that are succeeded can't be retried/],
    [["run", "cancel", "--status", "failed"], 6, /runs that are failed can't be cancelled/],
    [["run", "cancel", "nightly", "--task", "report"], 2, /exclude each other/],
  ])("%j is refused", async (argv, exit, message) => {
    const shell = await withFailures()

    const { code, err } = await shell.run(...argv)

    assert.equal(code, exit)
    assert.match(err, message)
  })

  test("a run that changed in the meantime is reported, the other runs are changed, and the exit code is 5", async () => {
    const shell = await withFailures()
    const [first, second] = await shell.json<RunView[]>("run", "list")
    await shell.run("run", "retry", first!.id)

    const { code, out, err } = await shell.run("run", "retry", first!.id, second!.id, "--yes", "-o", "name")

    assert.equal(code, 5)
    assert.match(err, /warning: Run ".*" is pending and can't be retried/)
    assert.equal(out, `${second!.id}\n`)
  })

  test("with overlap skip only one run of a schedule is retried; the others are listed with the run that blocks them", async () => {
    const shell = await withFailures({}, "skip")
    const [newest, ...others] = await shell.json<RunView[]>("run", "list")

    const { code, out, err } = await shell.run("run", "retry", "--schedule", "nightly", "--yes", "-o", "name")
    const alone = await shell.run("run", "retry", others[0]!.id)

    assert.equal(code, 5)
    assert.equal(out, `${newest!.id}\n`)
    for (const { id } of others)
      assert.ok(
        err.includes(
          `Run "${id}" can't be retried: run ${newest!.id} has not finished, and runs of nightly don't overlap.`,
        ),
        err,
      )
    assert.match(
      err,
      /1 of 3 runs retried, 2 not\. An unfinished run blocks others\. Repeat the command when/,
    )
    assert.equal(alone.code, 5)
    assert.match(alone.err, /can't be retried: .* has not finished/)
  })

  test("ids can be read from standard input", async () => {
    const shell = await withFailures()
    shell.input = (await shell.run("run", "list", "-o", "name")).out

    const { code, err } = await shell.run("run", "retry", "-", "--yes")

    assert.equal(code, 0, err)
    assert.deepEqual(await states(shell), ["pending", "pending", "pending"])
    shell.input = "\n"
    assert.equal((await shell.run("run", "retry", "-", "--yes")).code, 2)
  })

  test("retry with another payload creates a new run for the same occurrence", async () => {
    const shell = await withFailures()
    const [failed] = await shell.json<RunView[]>("run", "list")

    const { code, out, err } = await shell.run(
      "run",
      "retry",
      failed!.id,
      "--payload",
      '{"isGood":true}',
      "--json",
    )

    const [made] = JSON.parse(out) as RunView[]
    assert.equal(code, 0, err)
    assert.notEqual(made!.id, failed!.id)
    assert.deepEqual([made!.payload, made!.scheduledFor], [{ isGood: true }, failed!.scheduledFor])
    assert.equal(made!.reason, `Instead of ${failed!.id}`)
    assert.equal((await shell.json<RunView>("run", "get", failed!.id)).state, "failed")
  })
})

describe("schedule trigger", () => {
  test("--as-of sets the scheduledFor in the schedule's zone; --overlap replaces the schedule's policy", async () => {
    const shell = terminal()
    await shell.run("s", "create", "n", "--task", "t", "--cron", "30 2 * * *", "--tz", "Europe/Berlin")
    const first = await shell.run("s", "trigger", "n", "--as-of", "2026-03-28 02:30", "-o", "name")
    const trigger = (overlap: string) => shell.run("s", "trigger", "n", "--overlap", overlap)

    const refused = await trigger("skip")
    const replaced = await trigger("replace")

    const [, made] = await shell.json<RunView[]>("run", "list")
    assert.equal(String(made!.scheduledFor), "2026-03-28T01:30:00.000Z")
    assert.equal(`${made!.id}\n`, first.out)
    assert.deepEqual([refused.code, replaced.code, made!.state], [5, 0, "cancelled"])
    assert.match(refused.err, /add --overlap allow/)
    assert.equal((await shell.run("s", "trigger", "n", "--as-of", "+1h")).code, 6)
  })
})

test("schedule backfill --failed selects the occurrences whose run failed, and excludes --all", async () => {
  const shell = await withFailures()
  await shell.run("s", "set", "nightly", "--cron", "0 0 * * *")

  const failed = await shell.run(
    "s",
    "backfill",
    "nightly",
    "--from",
    "2026-01-01",
    "--failed",
    "--dry-run",
    "--to",
    "2026-01-05",
  )
  const both = await shell.run("s", "backfill", "nightly", "--from", "-1d", "--failed", "--all")

  assert.match(failed.err, /0 occurrences to backfill\. 5 did not fail/)
  assert.equal(both.code, 2)
  assert.match(both.err, /--failed and --all exclude each other/)
})
