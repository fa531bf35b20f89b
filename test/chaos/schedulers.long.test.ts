import assert from "node:assert/strict"
import { afterEach, test } from "vitest"
import { killPrograms, startProgram, until } from "../support/child-programs.ts"
import { query } from "../support/postgres.ts"
import { silentAttempts } from "./ledger.ts"
import type { Place } from "./place.ts"
import { postgresPlace } from "./postgres-place.ts"
import { storeAt } from "./store-at.ts"

let place: Place | null = null

afterEach(async () => {
  killPrograms()
  await place?.close()
  place = null
})

test("schedulers survive two kills of the server: hints arrive again, and no occurrence is missed or performed twice", async () => {
  place = await postgresPlace()
  const { address } = place
  const schedulers = ["first", "second"].map((name) => startScheduler(address, name, "slow"))
  const asked = startScheduler(address, "third", "asked")
  const all = [...schedulers, asked]
  const lines = () => schedulers.flatMap((each) => each.lines)
  await until(
    () => all.every((each) => each.lines.some(({ what }) => what === "started")),
    "the schedulers start",
  )
  await goesOn()
  await assertHinted()

  for (const downMs of [0, 2_000]) {
    await place.killServer!(downMs)
    await assertHinted()
    await goesOn()
  }

  for (const each of all) assert.equal(each.process.exitCode, null, "no process has ended")
  for (const each of all) each.process.kill("SIGTERM")
  assert.deepEqual(await Promise.all(all.map(({ ended }) => ended)), [0, 0, 0])
  const runs = (await place.ledger()).runs
    .filter(({ scheduleId }) => scheduleId === "every-second")
    .sort((a, b) => a.scheduledFor - b.scheduledFor)
  assert.deepEqual(
    runs.map(({ scheduledFor }) => scheduledFor),
    runs.map((_, index) => runs[0]!.scheduledFor + index * 1_000),
    "every second has its run, from the first to the last, and only one",
  )
  // The newest runs may have been given back when the processes were stopped.
  const unfinished = runs.slice(0, -3).filter(({ state }) => state !== "succeeded")
  assert.deepEqual(unfinished, [])
  const begun = lines()
    .filter(({ what }) => what === "begun")
    .map(({ runId, attempt }) => `${runId} ${attempt}`)
  assert.equal(new Set(begun).size, begun.length, "no attempt was begun twice")

  /** Enqueues a run by SQL. Without a hint the process would find the run only after an hour. */
  async function assertHinted(): Promise<void> {
    const before = asked.lines.length
    await query(address, "select belfry.enqueue('asked')")
    await until(() => asked.lines.slice(before).some(({ what }) => what === "ended"), "a hint arrives")
  }

  async function goesOn(): Promise<void> {
    const before = lines().length
    const ended = () =>
      lines()
        .slice(before)
        .filter(({ what }) => what === "ended")
    await until(() => ended().length >= 4, "the schedulers go on")
  }
})

interface Line {
  readonly what: string
  readonly runId: string
  readonly attempt: number
}

function startScheduler(address: string, name: string, task: string) {
  const started = startProgram(new URL("scheduler.ts", import.meta.url), [address, name, task])
  return { ...started, lines: started.lines as readonly Line[] }
}

test("when a scheduler is killed during its work, the other scheduler takes its runs over", async () => {
  place = await postgresPlace()
  const [first, second] = ["first", "second"].map((name) => startScheduler(place!.address, name, "slow"))
  const unfinished = () =>
    first!.lines.filter(({ what, runId }) => what === "begun" && !hasEnded(first!.lines, runId))
  await until(() => second!.lines.some(({ what }) => what === "ended"), "the second works")
  await until(() => unfinished().length > 0, "the first is at work")

  first!.process.kill("SIGKILL")
  await first!.ended
  const orphans = unfinished()
  await until(() => orphans.every(({ runId }) => hasEnded(second!.lines, runId)), "the second takes over")

  const store = storeAt(place.address)
  const runs = await store.readRuns(orphans.map(({ runId }) => runId))
  await store.close()
  for (const run of runs) assert.deepEqual([silentAttempts(run), run.attempt], [1, 2])
})

function hasEnded(lines: readonly Line[], id: string): boolean {
  return lines.some(({ what, runId }) => what === "ended" && runId === id)
}
