import { isEdited } from "../../../core/planning/edits.ts"
import type { NewJournalEntry } from "../../../core/records/journal.ts"
import type { NewSchedule } from "../../../core/schedule/schedule.ts"
import type { Swap } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { instantFrom } from "../rows.ts"
import { DEFINITION_COLUMNS, definitionValues, progressValues } from "../schedule-rows.ts"
import { entryLists, insertEntries } from "./journal.ts"

const COLUMNS = `id, revision, created_at, updated_at, declared_as, ${DEFINITION_COLUMNS}, next_run_at, covered_until,
    overrides, paused, fired_count, last_error, finished_at, unsettled, version`

const values = (
  unsettled: string,
) => `$1, $2, ${instantFrom("$3")}, ${instantFrom("$4")}, $5, $6, $7, $8, $9, $10, $11,
    $12::jsonb, $13, $14, $15::text[], $16::jsonb, $17::jsonb, $18, ${instantFrom("$19")},
    ${instantFrom("$20")}, $21::jsonb, $22::jsonb, $23, $24,
    ${instantFrom("$25")}, ${unsettled}, pg_catalog.nextval('belfry.versions')`

const INSERT_SCHEDULE = `
  with old_counts as (
    delete from belfry.counts as c
    where c.schedule_id = $1
      and not exists (select 1 from belfry.schedules as s where s.id = $1)
  ),
  old_ends as (
    delete from belfry.ends as e
    where e.schedule_id = $1
      and not exists (select 1 from belfry.schedules as s where s.id = $1)
  ),
  written as (
    insert into belfry.schedules (${COLUMNS})
    values (${values("null")})
    on conflict (id) do nothing
    returning version
  ),
  entry as (${insertEntries(26, "cross join written")}
  )
  select version from written`

// `$27`: the caller has read edits made by SQL and leaves them to a later plan, so they are kept.
const UPDATE_SCHEDULE = `
  with written as (
    update belfry.schedules
    set (${COLUMNS}) = row (${values("case when $27 then unsettled end")})
    where id = $1
      and version = $26
    returning version
  ),
  entry as (${insertEntries(28, "cross join written")}
  )
  select version from written`

export async function putSchedule(
  runner: Runner,
  schedule: NewSchedule,
  ifVersion: number | null,
  entry: NewJournalEntry | undefined,
): Promise<Swap> {
  const { id, revision, createdAt, updatedAt, declaredAs } = schedule
  const given = [
    ...[id, revision, createdAt, updatedAt, declaredAs],
    ...definitionValues(schedule),
    ...progressValues(schedule),
  ]
  const entries = entryLists(entry === undefined ? [] : [entry])
  const [row] =
    ifVersion === null
      ? await runner.rows(INSERT_SCHEDULE, [...given, ...entries])
      : await runner.rows(UPDATE_SCHEDULE, [...given, ifVersion, isEdited(schedule), ...entries])
  return row === undefined ? { outcome: "stale" } : { outcome: "done", version: Number(row[0]) }
}
