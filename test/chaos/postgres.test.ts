import assert from "node:assert/strict"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { postgres } from "belfry/postgres"
import { afterAll, afterEach, beforeAll, beforeEach, test } from "vitest"
import { finishRest, putSchedules } from "../support/busy-schedules.ts"
import { killPrograms, startProgram, stopProgram, until } from "../support/child-programs.ts"
import { type Postgres, query, startPostgres } from "../support/postgres.ts"

/**
 * Several processes on one database, some of them killed in the middle of whatever they do, and the server as well. What
 * came of it is read by SQL, and from files that the processes wrote.
 */

const WRITERS = 8
const SCHEDULES = 100
const FOR_MS = 20_000
const KILLED_MIN = 6

let server: Postgres
let url: string
let folder: string

beforeAll(async () => {
  server = await startPostgres({ fsync: true })
})
afterAll(() => server?.stop())

beforeEach(async () => {
  url = await server.freshDatabase()
  folder = mkdtempSync(join(tmpdir(), "belfry-chaos-"))
})

afterEach(() => {
  killPrograms()
  rmSync(folder, { recursive: true, force: true })
})

test("eight writers, killed at random, and a server that is killed, give no attempt twice and lose no run", async () => {
  const store = postgres(url)
  const anchor = await putSchedules(store, SCHEDULES)
  const began = Date.now()
  const writers = Array.from({ length: WRITERS }, (_, index) => startWriter(`w${index}`))
  let killed = 0
  let isServerToDie = true
  // Starting takes most of a process's time here, so each may work for some seconds before its turn comes.
  await sleep(3_000)
  // On a slow machine until enough have died.
  while (Date.now() - began < FOR_MS || killed < KILLED_MIN) {
    await sleep(400 + Math.random() * 600)
    if (isServerToDie && Date.now() - began > FOR_MS / 2) {
      isServerToDie = false
      await server.kill()
      await sleep(1_500)
      await server.restart()
    }
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
  await store.close()

  const [total] = await query<{ runs: number; lost: number; unfinished: number; untold: number }>(
    url,
    `select count(*)::int as runs, sum(lost)::int as lost,
       count(*) filter (where state not in ('succeeded', 'skipped'))::int as unfinished,
       count(*) filter (where coalesce(jsonb_array_length(attempts), 0) + (outcome is not null)::int <> attempt
         or (state = 'succeeded') <> coalesce(outcome = 'succeeded', false)
         or exists (select 1 from jsonb_array_elements(attempts) as a where a ->> 'outcome' = 'succeeded'))::int as untold
     from belfry.runs`,
  )
  console.log(JSON.stringify({ killed, ...total, reports }))
  assert.ok(
    total!.lost >= Math.floor(killed / 2),
    `${total!.lost} runs were lost by ${killed} killed processes`,
  )
  assert.equal(total!.unfinished, 0, "every run has ended")
  assert.equal(total!.untold, 0, "every attempt has ended, once, and the last one succeeded")
  await assertOneRecordEach(anchor)
  await assertWitnessed()
})

test("schedulers outlive a server that is restarted, and one that is killed; hints are heard again, and nothing is missed or done twice", async () => {
  const schedulers = ["first", "second"].map((name) => startScheduler(name, "slow"))
  const hinted = startScheduler("third", "hinted")
  const all = [...schedulers, hinted]
  const lines = () => schedulers.flatMap((each) => each.lines)
  await until(() => all.every((each) => each.lines.some(({ what }) => what === "started")), "they start")
  await until(() => lines().filter(({ what }) => what === "ended").length >= 3, "they work")
  await assertHinted()

  await server.restart()
  await assertHinted()
  await goesOn()
  await server.kill()
  await sleep(2_000)
  await server.restart()
  await assertHinted()
  await goesOn()

  for (const each of all) assert.equal(each.process.exitCode, null, "no process has ended")
  for (const each of all) each.process.kill("SIGTERM")
  assert.deepEqual(await Promise.all(all.map(({ ended }) => ended)), [0, 0, 0])
  const runs = await query<{ id: string; state: string; attempt: number; second: number }>(
    url,
    `select id, state, attempt, extract(epoch from scheduled_for)::int as second
     from belfry.runs where task = 'slow' order by scheduled_for`,
  )
  assert.deepEqual(
    runs.map(({ second }) => second),
    runs.map((_, index) => runs[0]!.second + index),
    "every second has its run, from the first to the last, and one only",
  )
  // The youngest may have been given back when they were stopped.
  const old = runs.slice(0, -3)
  assert.deepEqual(
    old.filter(({ state }) => state !== "succeeded"),
    [],
  )
  const begun = lines()
    .filter(({ what }) => what === "begun")
    .map(({ runId, attempt }) => `${runId} ${attempt}`)
  assert.equal(new Set(begun).size, begun.length, "no attempt was begun twice")

  /** Enqueued by SQL: nobody would look for it within the hour. */
  async function assertHinted(): Promise<void> {
    const before = hinted.lines.length
    await query(url, "select belfry.enqueue('hinted')")
    await until(() => hinted.lines.slice(before).some(({ what }) => what === "ended"), "a hint is heard")
  }

  async function goesOn(): Promise<void> {
    const before = lines().length
    await until(
      () =>
        lines()
          .slice(before)
          .filter(({ what }) => what === "ended").length >= 4,
      "they go on",
    )
  }
})

interface Line {
  readonly what: string
  readonly runId: string
  readonly attempt: number
}

/** Each second that has passed has one record, of its own or among those that another stands for. */
async function assertOneRecordEach(anchor: number): Promise<void> {
  const rows = await query<{
    id: string
    seconds: number
    records: number
    instants: number
    stands_for: number
  }>(
    url,
    `select s.id, round(extract(epoch from s.next_run_at) - ${anchor / 1_000})::int as seconds,
       count(*)::int as records, count(distinct r.scheduled_for)::int as instants,
       sum(case
         when r.state = 'skipped' and r.missed is not null then (r.missed ->> 'count')::int
         else 1 + coalesce((r.missed ->> 'count')::int, 0)
       end)::int as stands_for
     from belfry.schedules as s join belfry.runs as r on r.schedule_id = s.id
     group by s.id`,
  )
  assert.equal(rows.length, SCHEDULES)
  for (const { id, seconds, records, instants, stands_for } of rows) {
    assert.ok(seconds >= 15, `${id} went on for ${seconds} seconds`)
    assert.equal(instants, records, `${id} has no instant twice`)
    assert.equal(stands_for, seconds, `${id} has no second without a record`)
  }
}

/** Whoever was given an attempt wrote so into a file, and the database says the same. */
async function assertWitnessed(): Promise<void> {
  const given = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"))
  const attempts = given.filter((line) => line !== "").map((line) => line.split(" "))
  const names = new Map<string, string>()
  for (const [runId, attempt, name] of attempts) {
    const before = names.get(`${runId} ${attempt}`)
    assert.equal(before, undefined, `attempt ${attempt} of ${runId} was given to ${before} and to ${name}`)
    names.set(`${runId} ${attempt}`, name!)
  }
  const told = await query<{ id: string; attempt: number; worker: string }>(
    url,
    `select r.id, (a ->> 'attempt')::int as attempt, a ->> 'workerId' as worker
     from belfry.runs as r cross join lateral jsonb_array_elements(r.attempts) as a
     union all
     select id, attempt, worker_id from belfry.runs where outcome is not null`,
  )
  const known = new Map(told.map(({ id, attempt, worker }) => [`${id} ${attempt}`, worker]))
  for (const [attempt, name] of names) assert.equal(known.get(attempt), name, `${attempt} is ${name}'s`)
  assert.ok(names.size > 500, `${names.size} attempts were witnessed`)
}

function startWriter(name: string) {
  return startProgram(new URL("postgres-writer.ts", import.meta.url), [url, name, join(folder, name)])
}

function startScheduler(name: string, task: string) {
  const started = startProgram(new URL("postgres-scheduler.ts", import.meta.url), [url, name, task])
  return { ...started, lines: started.lines as readonly Line[] }
}
