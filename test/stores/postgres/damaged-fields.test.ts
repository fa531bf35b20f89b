import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { beforeAll } from "vitest"
import { DAMAGES, DEEP_DAMAGES, damagedFields, type Writable } from "../damaged-fields.ts"
import { openSqlHarness } from "./sql-harness.ts"

let psql: pg.Client
let store: PostgresStore

beforeAll(async () => {
  const opened = await openSqlHarness()
  ;({ store, psql } = opened)
  // JSON of any shape must be readable, also if a constraint would refuse it: a row may be older than the constraint.
  const { rows } = await psql.query(`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
    from pg_constraint
    where conrelid in ('belfry.runs'::regclass, 'belfry.schedules'::regclass)
      and contype = 'c'
      and pg_get_constraintdef(oid) ~ 'jsonb|are_overrides|is_pause|attempt'`)
  for (const { statement } of rows) await psql.query(statement)
  return opened.close
})

const JSONB = ["missed", "retry", "progress", "details", "attempts", "payload"]
const INSTANTS = [
  "created_at",
  "scheduled_for",
  "claimable_at",
  "due_at",
  "started_at",
  "completed_at",
  "ended_at",
]
const SCHEDULE_JSONB = ["payload", "triggers", "options", "overrides", "paused", "unsettled"]
const SCHEDULE_INSTANTS = [
  "created_at",
  "updated_at",
  "next_run_at",
  "covered_until",
  "finished_at",
  "last_fired_at",
]
const WORKER_INSTANTS = ["started_at", "heartbeat_at"]

const JSON_DAMAGES = [
  ...DEEP_DAMAGES,
  ...[
    "null",
    "[]",
    "{}",
    "[null]",
    "[1]",
    "[{}]",
    '"x"',
    "7",
    "-1",
    "1e300",
    '{"options": 5}',
    '{"at": "x"}',
    null,
  ],
  '[{"at": 1e300, "was": {"triggers": 5}, "by": null}]',
  '[{"at": 1, "was": {"triggers": [null], "overrides": 7}, "by": null, "nextRunAt": 5}]',
]
const INSTANT_DAMAGES = [
  "infinity",
  "-infinity",
  "0001-01-01",
  "9999-01-01",
  "294276-01-01",
  "4713-01-01 BC",
  null,
]
const LIST_DAMAGES = ["{}", "{NULL}", "{{a,b},{c,d}}", null]

function damagesOf(field: string): readonly (string | null)[] {
  if ([...JSONB, ...SCHEDULE_JSONB].includes(field)) return JSON_DAMAGES
  if (field === "tasks") return LIST_DAMAGES
  return [...INSTANTS, ...SCHEDULE_INSTANTS, ...WORKER_INSTANTS].includes(field) ? INSTANT_DAMAGES : DAMAGES
}

async function open(): Promise<Writable> {
  await psql.query(
    "delete from belfry.runs; delete from belfry.schedules; delete from belfry.shares; delete from belfry.workers",
  )
  return {
    store,
    async write(kind, id, field, value) {
      const text = `update belfry.${kind}s set "${field}" = $2 where id = $1`
      return psql.query(text, [id, value]).then(
        () => true,
        () => false,
      )
    },
  }
}

damagedFields(
  open,
  {
    schedule: [
      ...SCHEDULE_JSONB,
      ...SCHEDULE_INSTANTS,
      ...[
        "version",
        "revision",
        "task",
        "function",
        "cron",
        "timezone",
        "priority",
        "tags",
        "runs_fired",
        "fired_count",
      ],
    ],
    run: [
      ...JSONB,
      ...INSTANTS,
      ...[
        "priority",
        "attempt",
        "failures",
        "lost",
        "concurrency_limit",
        "timeout_ms",
        "slot",
        "state",
        "task",
      ],
      ...["outcome", "triggered_by", "worker_id"],
    ],
    worker: ["host", "pid", "tasks", "slots", "state", "running", ...WORKER_INSTANTS],
  },
  damagesOf,
)
