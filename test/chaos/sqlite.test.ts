import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { sqlite } from "belfry/sqlite"
import type { Run, Store } from "belfry/store"
import { afterEach, beforeEach, test } from "vitest"
import { aSchedule } from "../../src/store/laws/factories.ts"
import { loadDriver } from "../../src/stores/sqlite/driver.ts"
import { killPrograms, startProgram, stopProgram, until } from "../support/child-programs.ts"

/** Several processes on one file, some of them killed in the middle of whatever they do. */

const WRITERS = 8
const SCHEDULES = 200
const FOR_MS = 25_000
const KILLED_MIN = 10

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "belfry-chaos-"))
  path = join(folder, "belfry.db")
})

afterEach(() => {
  killPrograms()
  rmSync(folder, { recursive: true, force: true })
})

test("eight writers, killed at random, give no attempt twice and lose no run", async () => {
  const store = sqlite(path)
  await putSchedules(store)
  const began = Date.now()
  const writers = Array.from({ length: WRITERS }, (_, index) => startWriter(`w${index}`))
  let killed = 0
  // Starting takes most of a process's time here, so each may work for some seconds before its turn comes.
  await sleep(3_000)
  // On a slow machine until enough have died.
  while (Date.now() - began < FOR_MS || killed < KILLED_MIN) {
    await sleep(500 + Math.random() * 700)
    const index = Math.floor(Math.random() * WRITERS)
    const victim = writers[index]!
    // Every other one dies wherever it is, the rest with runs in hand.
    if (killed % 2 === 1) {
      victim.process.stdin!.write("hold\n")
      await until(() => victim.lines.length > 0, "a writer holds runs")
    }
    victim.process.kill("SIGKILL")
    await victim.ended
    killed++
    writers[index] = startWriter(`w${index}-${killed}`)
  }
  const reports = await Promise.all(writers.map(stopProgram))
  await finishRest(store)

  const runs = await allRuns(store)
  const twice = await givenTwice()
  const lost = sum(runs.map((run) => run.lost))
  console.log(JSON.stringify({ killed, runs: runs.length, lost, reports }))
  await store.close()
  assert.equal(await integrity(), "ok")
  assert.deepEqual(twice, [], "no (run, attempt) was given to two processes")
  assert.ok(lost >= Math.floor(killed / 2), `${lost} runs were lost by ${killed} killed processes`)
  assert.ok(runs.length > SCHEDULES, `${runs.length} runs`)
  for (const run of runs) {
    assert.ok(run.state === "succeeded" || run.state === "skipped", `${run.id} is ${run.state}`)
    assert.equal(
      run.attempts.filter(({ outcome }) => outcome === "succeeded").length,
      run.state === "succeeded" ? 1 : 0,
    )
    assert.equal(run.attempts.length, run.attempt, "every attempt has ended, once")
  }
})

test("when a scheduler is killed in the middle of a run, the other one takes over after the lease", async () => {
  const [first, second] = [startScheduler("first"), startScheduler("second")]
  const lines = () => [...first.lines, ...second.lines]
  await until(() => lines().filter(({ what }) => what === "ended").length >= 4, "they work")
  const isBusy = () =>
    first.lines.some(({ what, runId }) => what === "begun" && !hasEnded(first.lines, runId))
  await until(isBusy, "the first is at work")

  first.process.kill("SIGKILL")
  await first.ended
  const orphans = first.lines.filter(({ what, runId }) => what === "begun" && !hasEnded(first.lines, runId))
  await until(() => orphans.every(({ runId }) => hasEnded(second.lines, runId)), "the second takes over")

  second.process.kill("SIGTERM")
  await second.ended
  const store = sqlite(path)
  const runs = await allRuns(store)
  await store.close()
  for (const { runId, attempt } of orphans) {
    const run = runs.find(({ id }) => id === runId)!
    assert.deepEqual([run.state, run.lost], ["succeeded", 1])
    assert.equal(run.attempt, attempt + 1)
  }
  const ids = runs.map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
  const seconds = runs.map((run) => run.scheduledFor! / 1_000).sort((a, b) => a - b)
  assert.deepEqual(
    seconds,
    seconds.map((_, index) => seconds[0]! + index),
    "every second has its run, from the first to the last",
  )
  assert.equal(await integrity(), "ok")
})

interface Line {
  readonly what: string
  readonly runId: string
  readonly attempt: number
}

function hasEnded(lines: readonly Line[], id: string): boolean {
  return lines.some(({ what, runId }) => what === "ended" && runId === id)
}

async function putSchedules(store: Store): Promise<void> {
  await store.open()
  const now = await store.now()
  for (let at = 0; at < SCHEDULES; at++) {
    const trigger = { kind: "every", everyMs: 1_000, anchor: now } as const
    const due = { nextRunAt: now, coveredUntil: now, createdAt: now }
    // Half of them may not overlap, so live keys and concurrency keys are fought for as well.
    const overlap = { policy: at % 2 === 0 ? "allow" : "skip", limit: 1 } as const
    await store.putSchedule(aSchedule({ id: `s${at}`, triggers: [trigger], overlap, ...due }), null)
  }
}

/** What the killed ones held: their leases end, and one patient worker takes it. */
async function finishRest(store: Store): Promise<void> {
  const { succeed } = await import("../../src/core/run.ts")
  const request = { workerId: "last", tasks: [{ name: "report", leaseMs: 60_000 }], limit: 100 }
  for (let rounds = 0; rounds < 100; rounds++) {
    const { runs } = await store.claim(request)
    await store.transition(runs.map((run) => succeed(run, { message: "last", details: null })))
    const { pending, running } = await store.countRuns({})
    if (pending + running === 0) return
    if (runs.length === 0) await sleep(100)
  }
  assert.fail("what was left is finished within ten seconds")
}

async function allRuns(store: Store): Promise<readonly Run[]> {
  const found: Run[] = []
  for (;;) {
    const last = found.at(-1)
    const before = last === undefined ? null : { at: last.createdAt, id: last.id }
    const page = await store.findRuns({}, { orderBy: "createdAt", before, limit: 1_000 })
    found.push(...page)
    if (page.length < 1_000) return found
  }
}

/** Each process signs the attempts it is given with its pid as the line's number. */
async function givenTwice(): Promise<readonly unknown[]> {
  const database = (await loadDriver()).open(path)
  const rows = database
    .prepare("select run_id, attempt from belfry_logs group by run_id, attempt having count(*) > 1")
    .all()
  database.close()
  return rows
}

async function integrity(): Promise<unknown> {
  const database = (await loadDriver()).open(path)
  const [row] = database.prepare("pragma integrity_check").all() as [{ integrity_check: string }]
  database.close()
  return row.integrity_check
}

function startWriter(name: string) {
  return startProgram(new URL("sqlite-writer.ts", import.meta.url), [path, name])
}

function startScheduler(name: string) {
  const started = startProgram(new URL("sqlite-scheduler.ts", import.meta.url), [path, name])
  return { ...started, lines: started.lines as readonly Line[] }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
