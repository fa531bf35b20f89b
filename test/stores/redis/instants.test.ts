import assert from "node:assert/strict"
import fc from "fast-check"
import { test } from "vitest"
import { DATE_MAX } from "../../../src/core/records/valid-records.ts"
import { succeed } from "../../../src/core/run/run.ts"
import { aClaim, aHeartbeat, aLogLine, aPlan, aRunOf, aSchedule } from "../../../src/store/laws/factories.ts"
import { created } from "../../../src/store/laws/steps.ts"
import { instantIn, instantText } from "../../../src/stores/redis/instants.ts"
import { INSTANTS } from "../../../src/stores/redis/lua/instants.ts"
import { SEED } from "../../support/properties.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import { aClient, aFreshStore } from "./scratch.ts"

const EDGES = [
  ...[
    "1970-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "2000-02-29T12:00:00.001Z",
    "1900-02-28T23:59:59.999Z",
  ],
  ...[
    "1900-03-01T00:00:00.000Z",
    "2100-03-01T00:00:00.000Z",
    "0000-01-01T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z",
  ],
  ...["+010000-01-01T00:00:00.000Z", "-000001-12-31T23:59:59.999Z"],
].map((text) => Date.parse(text))

test("scripts write and read instants as JavaScript does", async () => {
  const client = aClient(freshPrefix().url)
  const anyInstant = fc.oneof(
    fc.integer({ min: 0, max: 4_102_444_800_000 }),
    fc.integer({ min: -DATE_MAX, max: DATE_MAX }),
  )
  const instants = [...EDGES, DATE_MAX, -DATE_MAX, ...fc.sample(anyInstant, { seed: SEED, numRuns: 2_000 })]

  const texts = await client.eval(script("rfc_3339(each)"), 0, ...instants)
  const read = await client.eval(script("ms_of(each) or 'none'"), 0, ...instants.map(instantText))

  assert.deepEqual(texts, instants.map(instantText))
  assert.deepEqual(read, instants.map(String))
  assert.deepEqual(instants.map(instantText).map(instantIn), instants)
})

test.each([
  "",
  "x",
  "5",
  "1794790800000",
  "2026-11-16",
  "2026-11-16T01:00:00Z",
  "Mon, 16 Nov 2026 01:00:00 GMT",
])("%j is not an instant, neither in a script nor in JavaScript", async (text) => {
  const client = aClient(freshPrefix().url)

  assert.deepEqual(await client.eval(script("ms_of(each) or 'none'"), 0, text), ["none"])
  assert.ok(Number.isNaN(instantIn(text)))
})

test("a score beyond any date is written unchanged", async () => {
  const client = aClient(freshPrefix().url)

  const texts = await client.eval(script("rfc_3339(each)"), 0, "-inf", "1e300", String(DATE_MAX + 1))

  assert.deepEqual(texts, ["-inf", "1e300", String(DATE_MAX + 1)])
})

test("an instant beyond any date is refused", () => {
  for (const instant of [Number.NaN, Number.POSITIVE_INFINITY, DATE_MAX + 1, -DATE_MAX - 1])
    assert.throws(() => instantText(instant), { code: "BELFRY_STORE_REFUSED" })
})

test("every instant in a hash and before a log line is RFC 3339", async () => {
  const { store, client, prefix } = await aFreshStore()
  const schedule = await created(store, aSchedule({ id: "s", nextRunAt: 0, coveredUntil: 0 }))
  const progress = { ...schedule, nextRunAt: Date.parse("2026-11-17T01:00:00Z") }
  await store.fire([aPlan(schedule, { progress, runs: [aRunOf("s", { scheduledFor: 0 })] })])
  const { runs } = await store.claim(aClaim())
  await store.heartbeat(aHeartbeat())
  await store.appendLogs([aLogLine(runs[0]!.id)])
  await store.transition(runs.map((run) => succeed(run, { message: null, details: null })))

  const found = new Map<string, string>()
  for (const kind of ["schedules", "runs", "workers"])
    for (const key of await client.keys(`${prefix}:${kind}:*`))
      for (const [field, value] of Object.entries(await client.hgetall(key)))
        found.set(`${kind} ${field}`, value)
  found.set("successes", (await client.hgetall(`${prefix}:successes`))["s"]!)
  found.set("logs", (await client.zrange(`${prefix}:logs:${runs[0]!.id}`, "0", "-1"))[0]!.split(" ")[0]!)

  const written = [...found].filter(([, value]) => RFC_3339.test(value)).map(([name]) => name)
  assert.deepEqual(written.sort(), [
    "logs",
    ...["completed_at", "created_at", "due_at", "scheduled_for", "started_at"].map((name) => `runs ${name}`),
    ...["last_ended", "last_run", "last_success", "next_run"].map((name) => `schedules ${name}`),
    "successes",
    ...["expected_by", "heartbeat_at", "started_at"].map((name) => `workers ${name}`),
  ])
  assert.deepEqual(
    [...found].filter(([, value]) => /^\d{10,}$/.test(value)),
    [],
  )
})

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A script that evaluates the expression for each argument. */
function script(expression: string): string {
  return `${INSTANTS.text}
local answers = {}
for index, each in ipairs(ARGV) do
  answers[index] = ${expression}
end
return answers`
}
