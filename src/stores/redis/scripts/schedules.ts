import type { NewJournalEntry } from "../../../core/records/journal.ts"
import { type NewSchedule, progressOf } from "../../../core/schedule/schedule.ts"
import type { Swap } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { entryArgs } from "../entry-args.ts"
import { ENTRY_ARGS, JOURNAL } from "../lua/journal.ts"
import { PROGRESS } from "../lua/progress.ts"
import { SCHEDULES } from "../lua/schedules.ts"
import { definitionText, pushProgress } from "../schedule-rows.ts"
import { answeringOnce, marked, scriptOf } from "../script.ts"

// Arguments: id, the expected version, the progress, the entry, then the definition. Returns the new version; nil if it is stale.
const PUT = scriptOf(
  [SCHEDULES, PROGRESS, JOURNAL],
  `
local id, key = ARGV[1], schedule_key(ARGV[1])
local entry_at = 3 + PROGRESS_ARGS
local at = entry_at + ${ENTRY_ARGS}
local definition, task, owner, enabled = ARGV[at], ARGV[at + 1], text_of(ARGV[at + 2]), ARGV[at + 3]
if version_of(key, fields_in(key, 'version')[1]) ~= ARGV[2] then
  return false
end

unlist(id)
local tags = {}
for index = at + 4, #ARGV do
  tags[#tags + 1] = ARGV[index]
end
for _, list in ipairs(lists_of(task, owner, tags)) do
  call('ZADD', list, 0, id)
end
local version = call('INCR', prefix .. ':versions')
call('HDEL', key, 'owner', 'tags')
call('HSET', key, 'task', task, 'enabled', enabled, 'definition', definition)
if owner then
  call('HSET', key, 'owner', owner)
end
if #tags > 0 then
  call('HSET', key, 'tags', cjson.encode(tags))
end
write_progress(key, 3, whole(version), {})
-- Invalid values in the fields about runs are repaired.
for _, name in ipairs({ 'run_count', 'failures_in_a_row' }) do
  local number = call('HGET', key, name)
  if not number or not count_in(number) then
    call('HSET', key, name, 0)
  end
end
for _, name in ipairs({ 'last_run', 'last_ended', 'last_success' }) do
  local instant = call('HGET', key, name)
  if instant and not ms_of(instant) then
    call('HDEL', key, name)
  end
end
if ARGV[4] == '' then
  call('ZREM', prefix .. ':due', id)
else
  call('ZADD', prefix .. ':due', ARGV[4], id)
end
add_entry(entry_at, now_ms())
call('PUBLISH', prefix .. ':hints', 'schedules')
return version
`,
)

export async function putSchedule(
  connection: Connection,
  schedule: NewSchedule,
  ifVersion: number | null,
  entry: NewJournalEntry | undefined,
): Promise<Swap> {
  const { id, task, owner, enabled, tags } = schedule
  const args: (string | number)[] = [id, ifVersion ?? ""]
  pushProgress(args, progressOf(schedule))
  args.push(
    ...entryArgs(entry),
    definitionText(schedule),
    task,
    marked(owner),
    String(enabled),
    ...new Set(tags),
  )
  const version = await connection.once<number | null>(answeringOnce(PUT), args)
  return version === null ? { outcome: "stale" } : { outcome: "done", version }
}
