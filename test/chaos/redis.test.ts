import assert from "node:assert/strict"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { redis } from "belfry/redis"
import { Redis } from "ioredis"
import { afterAll, afterEach, beforeAll, beforeEach, test } from "vitest"
import { finishRest, putSchedules } from "../support/busy-schedules.ts"
import { killPrograms, type Program, startProgram, stopProgram, until } from "../support/child-programs.ts"
import { type RedisServer, startRedis } from "../support/redis.ts"

/**
 * Several processes on one server that writes down everything before it answers. Processes and server are killed in the
 * middle of whatever they do. What came of it is read by a client that knows only keys, and from files that the processes
 * wrote.
 */

const WRITERS = 6
const SCHEDULES = 60
const FOR_MS = 25_000
const KILLED_MIN = 8
const SERVER_KILLED = 3

let server: RedisServer
let folder: string

beforeAll(async () => {
  server = await startRedis({ isKept: true })
})
afterAll(() => server?.stop())

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "belfry-chaos-"))
})
afterEach(() => {
  killPrograms()
  rmSync(folder, { recursive: true, force: true })
})

test("six writers, killed at random, and a server that is killed, give no attempt twice and lose no run", async () => {
  const store = redis(server.url)
  const anchor = await putSchedules(store, SCHEDULES)
  const { killed, serverKilled, reports } = await killForAWhile()
  await finishRest(store)
  await store.close()

  const client = new Redis(server.url)
  const runs = await storedRuns(client)
  const lost = runs.reduce((total, { fields }) => total + Number(fields["lost"] ?? 0), 0)
  console.log(JSON.stringify({ killed, serverKilled, runs: runs.length, lost, reports }))
  assert.ok(lost >= Math.floor(killed / 2), `${lost} runs were lost by ${killed} killed processes`)
  for (const report of reports) assert.equal(report.forgotten, 0, "a server that lost nothing isn't accused")
  assertEnded(runs)
  await assertOneRecordEach(client, runs, anchor)
  await assertNothingLeft(client, runs)
  assertWitnessed(runs)
  client.disconnect()
})

interface StoredRun {
  readonly id: string
  readonly fields: Readonly<Record<string, string>>
  /** Attempt, worker and outcome of each that has ended. */
  readonly attempts: readonly (readonly [attempt: number, worker: string, outcome: string])[]
}

interface Report {
  readonly finished: number
  readonly forgotten: number
}

async function killForAWhile() {
  const began = Date.now()
  const writers = Array.from({ length: WRITERS }, (_, index) => startWriter(`w${index}`))
  let [killed, serverKilled] = [0, 0]
  // Starting takes most of a process's time here, so each may work for some seconds before its turn comes.
  await sleep(3_000)
  // On a slow machine until enough have died.
  while (Date.now() - began < FOR_MS || killed < KILLED_MIN) {
    await sleep(400 + Math.random() * 600)
    if (serverKilled < SERVER_KILLED && Date.now() - began > (FOR_MS * (serverKilled + 1)) / 4) {
      serverKilled++
      await server.kill()
      await sleep(700)
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
  const reports = (await Promise.all(writers.map(stopProgram))) as readonly Report[]
  return { killed, serverKilled, reports }
}

function startWriter(name: string): Program {
  const file = new URL("redis-writer.ts", import.meta.url)
  return startProgram(file, [server.url, name, join(folder, name)])
}

async function storedRuns(client: Redis): Promise<readonly StoredRun[]> {
  const start = "{belfry}:runs:"
  const runs: StoredRun[] = []
  for (const key of await client.keys(`${start}*`)) {
    const id = key.slice(start.length)
    const fields = await client.hgetall(key)
    const stories = (await client.lrange(`{belfry}:attempts:${id}`, 0, -1)).map((text) => JSON.parse(text))
    // The last attempt, if it ended with its run, is told by the run itself.
    const last = [Number(fields["attempt"]), fields["worker_id"], null, null, fields["outcome"]]
    const all = fields["outcome"] === undefined ? stories : [...stories, last]
    runs.push({
      id,
      fields,
      attempts: all.map(([attempt, worker, , , outcome]) => [attempt, worker, outcome]),
    })
  }
  return runs
}

function assertEnded(runs: readonly StoredRun[]): void {
  for (const { id, fields, attempts } of runs) {
    const { state, attempt = "0" } = fields as { state: string; attempt?: string }
    assert.ok(state === "succeeded" || state === "skipped", `${id} is ${state}`)
    assert.deepEqual(
      attempts.map(([number]) => number),
      attempts.map((_, index) => index + 1),
      `each attempt of ${id} has ended, once`,
    )
    assert.equal(attempts.length, Number(attempt))
    const succeeded = attempts.filter(([, , outcome]) => outcome === "succeeded")
    assert.equal(succeeded.length, state === "succeeded" ? 1 : 0, `${id} has succeeded once`)
  }
}

/** Each second that has passed has one record, of its own or among those that another stands for. */
async function assertOneRecordEach(client: Redis, runs: readonly StoredRun[], anchor: number): Promise<void> {
  for (let at = 0; at < SCHEDULES; at++) {
    const own = runs.filter(({ fields }) => fields["schedule_id"] === `s${at}`)
    const nextRunAt = Date.parse((await client.hget(`{belfry}:schedules:s${at}`, "next_run"))!)
    const seconds = (nextRunAt - anchor) / 1_000
    const standsFor = own.map(({ fields }) => {
      const missed: number = JSON.parse(fields["more"] ?? "{}").missed?.count ?? 0
      return fields["state"] === "skipped" && missed > 0 ? missed : 1 + missed
    })
    assert.ok(seconds >= 15, `s${at} went on for ${seconds} seconds`)
    assert.equal(new Set(own.map(({ fields }) => fields["scheduled_for"])).size, own.length)
    assert.equal(
      standsFor.reduce((total, count) => total + count, 0),
      seconds,
      `s${at} has one record for each second`,
    )
  }
}

/** Where unfinished runs are found nothing is left, and where all are found are these. */
async function assertNothingLeft(client: Redis, runs: readonly StoredRun[]): Promise<void> {
  for (const pattern of ["queue:*", "waiting:*", "unfinished:*", "live", "running"])
    assert.deepEqual(await client.keys(`{belfry}:${pattern}`), [], pattern)
  const ids = runs.map(({ id }) => id).sort()
  for (const index of ["created", "scheduled", "completed"])
    assert.deepEqual((await client.zrange(`{belfry}:history:${index}`, "0", "-1")).sort(), ids, index)
  const counts = await client.hmget("{belfry}:counts", "succeeded:all", "skipped:all", "running:all")
  const inState = (state: string) => runs.filter(({ fields }) => fields["state"] === state).length
  assert.deepEqual(counts.map(Number), [inState("succeeded"), inState("skipped"), 0])
}

/** Whoever was given an attempt, or finished a run, wrote so into a file, and the server says the same. */
function assertWitnessed(runs: readonly StoredRun[]): void {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"))
  const known = new Map(
    runs.flatMap(({ id, attempts }) =>
      attempts.map(([attempt, worker, outcome]) => [`${id} ${attempt}`, { worker, outcome }]),
    ),
  )
  const [given, finished] = [new Set<string>(), new Set<string>()]
  for (const line of lines.filter((each) => each !== "")) {
    const [what, id, attempt, name] = line.split(" ") as [string, string, string, string]
    const key = `${id} ${attempt}`
    assert.equal(known.get(key)?.worker, name, `attempt ${key} is ${name}'s`)
    if (what === "given") {
      assert.ok(!given.has(key), `attempt ${key} is given once`)
      given.add(key)
    } else {
      assert.ok(!finished.has(id), `${id} is finished once`)
      assert.equal(known.get(key)?.outcome, "succeeded")
      finished.add(id)
    }
  }
  assert.ok(finished.size > 500, `${finished.size} runs were witnessed`)
}
