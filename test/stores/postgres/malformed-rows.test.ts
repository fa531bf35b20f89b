import assert from "node:assert/strict"
import type pg from "pg"
import { beforeAll, test } from "vitest"
import { DAILY, openSqlHarness, type SqlHarness } from "./sql-harness.ts"

/**
 * Invalid rows. Each is refused by a constraint that names the mistake, or the mistake is recorded on the row. Another schedule
 * still fires.
 */

let harness: SqlHarness
let psql: pg.Client

beforeAll(async () => {
  const opened = await openSqlHarness()
  ;({ psql, harness } = opened)
  return opened.close
})

const triggers = (...list: readonly unknown[]) => `'${JSON.stringify(list)}'`

/** A column, the value written to it, and the expected message. */
const ROWS: readonly (readonly [column: string, value: string, expected: RegExp])[] = [
  ["options", `'[1]'`, /schedules_options_is_an_object/],
  ["options", `'7'`, /schedules_options_is_an_object/],
  ["options", `'{"timeout": -5}'`, /timeout/],
  ["options", `'{"overlaps": "skip"}'`, /overlaps/],
  ["options", `'{"overlap": "sometimes"}'`, /overlap/],
  ["options", `'{"every": "5m"}'`, /every.*column cron/],
  ["options", `'{"anchor": "2026-01-01T00:00:00Z"}'`, /options has anchor; .*startsAt/],
  ["options", `'{"dayMatch": "both"}'`, /options has dayMatch; .*\+/],
  ["options", `'{"timezone": "Europe/Berlin"}'`, /options has timezone; write it into the column timezone/],
  ["options", `'{"enabled": false}'`, /options has enabled; write it into the column enabled/],
  ["options", `'{"priority": "high"}'`, /options has priority; write it into the column priority/],
  ["options", `'{"tags": ["a"]}'`, /options has tags; write it into the column tags/],
  ["options", `'{"description": "a"}'`, /options has description; write it into the column description/],
  ["options", `'{"task": "a"}'`, /options has task; write it into the column task/],
  ["options", `'{"payload": 1}'`, /options has payload; write it into the column payload/],
  ["options", `'{"retry": 5}'`, /options: retry is 5; use an object with attempts, backoff, delay, maxDelay/],
  ["options", `'{"retry": [3]}'`, /options: retry is a list of 1; use an object with attempts/],
  ["options", `'{"retry": {"attempts": "x"}}'`, /options: retry\.attempts is "x"; use a whole number/],
  [
    "options",
    `'{"catchUp": ["x"]}'`,
    /options: catchUp is a list of 1; use "once", "none" or "all", or an object/,
  ],
  ["options", `'{"catchUp": {}}'`, /options: catchUp\.policy is undefined; use "once", "none" or "all"/],
  [
    "options",
    `'{"overlap": []}'`,
    /options: overlap is a list of 0; use "skip", "queue", "replace" or "allow", or/,
  ],
  ["options", `'{"overlap": 5}'`, /options: overlap is 5; use "skip", "queue", "replace" or "allow"/],
  ["options", `'{"timeout": {}}'`, /options: timeout is an object, which is not a duration\. Write "90s"/],
  ["options", `'{"timeout": true}'`, /options: timeout is true, which is not a duration/],
  ["options", `'{"startsAt": {}}'`, /options: startsAt is an object, which is not an instant/],
  ["options", `'{"startsAt": "soon"}'`, /options: startsAt is "soon", which is not an instant/],
  ["options", `'{"dst": "skip"}'`, /options: dst is "skip"; use an object with gap, overlap/],
  ["options", `'{"dependsOn": "a"}'`, /options: dependsOn is "a"; use a list/],
  ["options", `'{"dependsOn": [5]}'`, /options: dependsOn\[0\] is 5; use an object with schedule, within/],
  [
    "options",
    `'{"dependsOn": [null]}'`,
    /options: dependsOn\[0\] is null; use an object with schedule, within/,
  ],
  ["options", `'{"maxRuns": "x"}'`, /options: maxRuns is "x"; use a whole number/],
  ["options", `'{"removeWhenFinished": "yes"}'`, /options: removeWhenFinished is "yes"; use true or false/],
  ["options", `'{"maxConcurrentRuns": 3000000000}'`, /maxConcurrentRuns/],
  ["options", `'{"dependsOn": [{"schedule": "x", "within": "1h"}]}'`, /depends on itself/],
  ["options", `'{"dependsOn": [{"schedule": "nobody", "within": "1h"}]}'`, /"nobody", which doesn't exist/],
  ["options", `'{"timeoutMs": 5000}'`, /timeoutMs is not an option.*timeout/],
  ["options", `'{"release": 5}'`, /release is not an option/],
  ["options", `'{"timezone": "Asia/Tokyo"}'`, /timezone.*column timezone/],
  ["options", `'{"jitter": "x"}'`, /jitter.*"x"/],
  ["options", `'{"catchUp": {"policy": "all", "grace": 0, "window": 1e15}}'`, /catchUp\.window/],
  ["options", `'{"catchUp": "all"}'`, /catchUp "all" needs overlap/],
  ["options", `'{"overlap": 5}'`, /overlap is 5/],
  ["options", `'{"dependsOn": 5}'`, /dependsOn is 5/],
  ["options", `'{"retry": {"attempts": "x"}}'`, /retry\.attempts is "x"/],
  ["options", `'{"endsAt": 1e300}'`, /endsAt/],
  ["options", `'{"__proto__": {"timeout": "5m"}}'`, /__proto__/],
  [
    "options",
    "(select jsonb_object_agg('o' || n, n) from generate_series(1, 50000) as n)",
    /has 50000 names/,
  ],
  ["triggers", `'{"a": 1}'`, /schedules_triggers_is_a_list/],
  ["triggers", `'"abc"'`, /schedules_triggers_is_a_list/],
  ["triggers", triggers(null), /triggers\[1\] is null/],
  ["triggers", triggers(1, 2), /triggers\[1\] is 1/],
  ["triggers", triggers({ kind: "every", everyMs: 0 }), /triggers\[1\].*everyMs/],
  ["triggers", triggers({ kind: "every", everyMs: 1 }), /triggers\[1\].*1000 or more/],
  ["triggers", triggers({ kind: "every", everyMs: -1 }), /triggers\[1\]/],
  ["triggers", triggers({ kind: "every", everyMs: 1500.5 }), /triggers\[1\]/],
  ["triggers", triggers({ kind: "every", everyMs: "1000" }), /triggers\[1\]/],
  ["triggers", triggers({ kind: "every", everyMs: 1000, anchor: "x" }), /triggers\[1\]/],
  ["triggers", triggers({ kind: "every", everyMs: 1000, anchor: 0.5 }), /triggers\[1\]/],
  ["triggers", triggers({ kind: "at", at: "x" }), /triggers\[1\]/],
  ["triggers", `'[{"kind": "at", "at": 1e300}]'`, /triggers\[1\]/],
  ["triggers", triggers({ kind: "at", at: 99_999_999_999_999.5 }), /triggers\[1\]/],
  ["triggers", triggers({ kind: "cron", cron: 5, dayMatch: "either" }), /triggers\[1\]/],
  ["triggers", triggers({ kind: "cron", cron: "0 0 * * *" }), /triggers\[1\].*dayMatch/],
  ["triggers", triggers(...Array(20_000).fill({ kind: "at", at: 0 })), /schedules_triggers_is_a_list/],
  ["cron", "repeat('1,', 500000) || '1 * * * *'", /schedules_cron_is_at_most/],
  ["cron", "'x'", /"x"/],
  ["cron", "null", /has no time/],
  ["timezone", "E'a\\nb'", /a\\nb|a\nb/],
  ["timezone", "repeat('x', 1000)", /schedules_timezone_is/],
  ["timezone", "''", /schedules_timezone_is/],
  ["tags", "array_fill('t'::text, array[100000])", /tags of schedule "x" have to be/],
  ["tags", "array[null::text]", /schedules_tags_are/],
  ["overrides", `'{"a": 1}'`, /schedules_overrides_is_a_list_of_instants/],
  ["overrides", `'"x"'`, /schedules_overrides_is_a_list_of_instants/],
  ["overrides", `'[1, null]'`, /schedules_overrides_is_a_list_of_instants/],
  ["overrides", `'[{"scheduledFor": "x", "dueAt": {}}]'`, /schedules_overrides_is_a_list_of_instants/],
  ["overrides", `'[{"scheduledFor": 1e300, "dueAt": -1e300}]'`, /schedules_overrides_is_a_list_of_instants/],
  ["overrides", `'[{"scheduledFor": 1.5, "dueAt": null}]'`, /overrides\[0\]/],
  ["paused", `'"x"'`, /schedules_paused_has_instants/],
  ["paused", `'{"until": "x", "at": "y"}'`, /schedules_paused_has_instants/],
  ["paused", `'{"until": 1e300, "at": -1e300}'`, /schedules_paused_has_instants/],
  ["next_run_at", "'infinity'", /next run at infinity/],
  ["next_run_at", "'-infinity'", /next run at -infinity/],
  ["next_run_at", "'4000-01-01 BC'", /of the years 1 to 9999/],
  ["covered_until", "'infinity'", /schedules_instants_are/],
  ["covered_until", "'-infinity'", /schedules_instants_are/],
  ["created_at", "'-infinity'", /schedules_instants_are/],
  ["runs_fired", "9223372036854775807", /schedules_counts_are_whole/],
  ["version", "9223372036854775807", /schedules_counts_are_whole/],
  ["priority", "2147483647", /schedules_priority_is/],
  ["task", "''", /has the task ""/],
  ["task", "null", /null value in column "task"/],
  ["task", "repeat('x', 12800)", /has the task "x+"/],
  ["function", "'app.close_day'", /has both the task "report" and the function "app\.close_day"/],
  ["task", "'a b'", /has the task "a/],
  ["task", "E'a\\nb'", /has the task "a/],
  ["task", "E'a\\x1b[2J'", /has the task "a/],
  ["task", "U&'a\\202E'", /has the task "a/],
  ["description", "repeat('x', 4001)", /description of schedule "x" has more than 4000/],
  ["tags", "array['']", /tags of schedule "x" have to be/],
  ["tags", "array[repeat('x', 101)]", /tags of schedule "x" have to be/],
  ["tags", "array_fill('t'::text, array[51])", /tags of schedule "x" have to be/],
  ["owner", "''", /owner of schedule "x" has to have/],
  ["owner", "repeat('x', 201)", /owner of schedule "x" has to have/],
  ["payload", "to_jsonb(repeat('x', 1048576))", /payload of schedule "x" has more than 1048576 bytes/],
  ["payload", "(repeat('[', 65) || repeat(']', 65))::jsonb", /nested deeper than 64 levels/],
  ["payload", `(repeat('{"a":', 65) || '1' || repeat('}', 65))::jsonb`, /nested deeper than 64 levels/],
  [
    "payload",
    "(select jsonb_object_agg('k' || n, n) from generate_series(1, 10001) as n)",
    /has more than 10000 keys/,
  ],
  ["id", "E'$(touch /tmp/x)\\x1b]0;x'", /not valid/],
  ["id", "repeat('x', 2000)", /not valid/],
]

test.each(ROWS)(
  "%s of %s is refused or recorded on the row, and does not affect other schedules",
  async (column, value, expected) => {
    await psql.query("delete from belfry.schedules; delete from belfry.runs")
    const columns = { id: "'x'", task: "'report'", cron: `'${DAILY}'`, [column]: value }
    const insert = `insert into belfry.schedules (${Object.keys(columns).join(", ")}) values (${Object.values(columns).join(", ")})`
    await psql.query(
      `insert into belfry.schedules (id, task, cron, next_run_at) values ('canary', 'report', '${DAILY}', now())`,
    )

    const refusal = await psql.query(insert).then(
      () => null,
      (error: Error) => error.message,
    )
    await harness.fireDue()

    const { rows } = await psql.query(
      "select last_error, next_run_at from belfry.schedules where id <> 'canary'",
    )
    assert.match(refusal ?? rows[0].last_error, expected)
    if (refusal === null) assert.equal(rows[0].next_run_at, null)
    const { rows: runs } = await psql.query("select schedule_id from belfry.runs")
    assert.deepEqual(runs, [{ schedule_id: "canary" }])
  },
)

test("an option that is null counts as not given", async () => {
  await psql.query("delete from belfry.schedules; delete from belfry.runs")
  await psql.query(`insert into belfry.schedules (id, task, cron, options)
    values ('x', 'report', '${DAILY}', '{"overlap": null, "timeout": null, "retry": null, "timezone": null}')`)

  await harness.fireDue()

  const { rows } = await psql.query(
    "select last_error, next_run_at is not null as planned from belfry.schedules",
  )
  assert.deepEqual(rows, [{ last_error: null, planned: true }])
})

test("a row with covered_until in the year 2 is caught up to its limit", async () => {
  await psql.query("delete from belfry.schedules; delete from belfry.runs")
  await psql.query(`insert into belfry.schedules (id, task, cron, next_run_at, covered_until, options)
    values ('x', 'report', '* * * * * *', now(), '0002-01-01',
      '{"catchUp": {"policy": "all", "window": "300d", "limit": 1000}, "overlap": "allow"}')`)

  await harness.fireDue()

  const { rows } = await psql.query(
    "select count(*)::integer as count from belfry.runs where state = 'pending'",
  )
  assert.ok(rows[0].count >= 1_000)
})

test("instants of a row are truncated to milliseconds, so that a schedule due now is due at once", async () => {
  await psql.query("delete from belfry.schedules")
  const { rows } = await psql.query(`
    insert into belfry.schedules (id, task, cron, next_run_at, covered_until)
    values ('x', 'report', '* * * * *', '2026-01-01 00:00:00.000999Z', '2025-12-31 23:59:00.000999Z')
    returning next_run_at = '2026-01-01Z' as next, covered_until = '2025-12-31 23:59Z' as covered`)

  assert.deepEqual(rows, [{ next: true, covered: true }])
})

test.each([
  ["a run with an empty task", "select belfry.enqueue('')", /can't be enqueued: use 1 to 200 letters/],
  [
    "a run with a priority out of range",
    "select belfry.enqueue('report', priority => 2000000000)",
    /runs_priority_is/,
  ],
  [
    "a run in an unknown state",
    "insert into belfry.runs (id, task, state, triggered_by) values ('r', 't', 'done', 'api')",
    /runs_state_is/,
  ],
  [
    "a function without a name",
    "insert into belfry.schedules (id, cron, function) values ('y', '@daily', '')",
    /schedules_function_is/,
  ],
  ...[
    ["retry", "'5'", /runs_retry_is_an_object/],
    ["missed", "'[]'", /runs_missed_is_an_object/],
    ["progress", `'"x"'`, /runs_progress_is_an_object/],
    ["attempts", "'{}'", /runs_attempts_is_a_list/],
    ["attempt", "-1", /runs_counts_are_from_0/],
    ["claimable_at", "'infinity'", /runs_instants_are_finite/],
    ["created_at", "'-infinity'", /runs_instants_are_finite/],
  ].map(([column, value, expected]): [string, string, RegExp] => [
    `${column} ${value}`,
    `insert into belfry.runs (id, task, state, triggered_by, ${column}) values ('r', 't', 'pending', 'api', ${value})`,
    expected as RegExp,
  ]),
])("%s is refused", async (_, statement, expected) => {
  await assert.rejects(psql.query(statement), expected)
})

test.each([
  ["task", "'A-z_0.9:/'"],
  ["description", "repeat('x', 4000)"],
  ["tags", "array_fill(repeat('x', 100), array[50])"],
  ["owner", "repeat('x', 200)"],
  ["payload", "to_jsonb(repeat('x', 1048574))"],
  ["payload", "(repeat('[', 64) || repeat(']', 64))::jsonb"],
  ["payload", `(repeat('{"a":', 64) || '1' || repeat('}', 64))::jsonb`],
  ["payload", "(select jsonb_object_agg('k' || n, n) from generate_series(1, 10000) as n)"],
])("%s of %s has the largest size that the API allows, and is planned", async (column, value) => {
  await psql.query("delete from belfry.schedules")
  const columns = { id: "'x'", task: "'report'", cron: `'${DAILY}'`, [column]: value }

  await psql.query(
    `insert into belfry.schedules (${Object.keys(columns).join(", ")}) values (${Object.values(columns).join(", ")})`,
  )
  await harness.fireDue()

  const { rows } = await psql.query(
    "select last_error, next_run_at > now() as is_planned from belfry.schedules",
  )
  assert.deepEqual(rows, [{ last_error: null, is_planned: true }])
})
