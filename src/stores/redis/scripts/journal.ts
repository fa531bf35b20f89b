import type { JournalEntry, NewJournalEntry } from "../../../core/records/journal.ts"
import type { Instant } from "../../../core/time/instant.ts"
import { storedJson } from "../../../core/values/json.ts"
import type { AppendAnswer, JournalFilter, JournalPage } from "../../../store/store.ts"
import { isWantedEntry } from "../../kit/journal-filter.ts"
import type { Connection } from "../connection.ts"
import { entryArgs, entryListOf } from "../entry-args.ts"
import { ENTRY_ARGS, JOURNAL } from "../lua/journal.ts"
import { answersOf, numberOrNone, scriptOf, slicesOf } from "../script.ts"

// Arguments: the entries.
const APPEND = scriptOf(
  [JOURNAL],
  `
local now = now_ms()
for at = 1, #ARGV, ${ENTRY_ARGS} do
  add_entry(at, now)
end
return 1
`,
)

export function appendEntries(
  connection: Connection,
  entries: readonly NewJournalEntry[],
): Promise<readonly AppendAnswer[]> {
  return answersOf(slicesOf(entries), async (slice) => {
    await connection.run(APPEND, slice.flatMap(entryArgs))
    return slice.map(() => ({ outcome: "done" }) as const)
  })
}

// Arguments: the list, the order 'newest' or 'oldest', the place before the first, the bounds, and the limit.
// Returns the id, the instant and the text of each entry.
const READ = scriptOf(
  [JOURNAL],
  `
local STEP = 200
local list, is_newest = JOURNAL .. ARGV[1], ARGV[2] == 'newest'
local after_at, after_id, from, till, limit = ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
local low, high = from == '' and '-inf' or from, till == '' and '+inf' or '(' .. till
if after_at ~= '' and is_newest then
  high = after_at
elseif after_at ~= '' then
  low = after_at
end

local function step(offset)
  if is_newest then
    return call('ZREVRANGEBYSCORE', list, high, low, 'WITHSCORES', 'LIMIT', offset, STEP)
  end
  return call('ZRANGEBYSCORE', list, low, high, 'WITHSCORES', 'LIMIT', offset, STEP)
end

-- Entries of the same instant are ordered by id.
local function is_after(id, at)
  if after_at == '' or tonumber(at) ~= tonumber(after_at) then
    return true
  end
  if is_newest then
    return is_less(id, after_id)
  end
  return is_less(after_id, id)
end

local found, offset = {}, 0
while #found < limit do
  local entries = step(offset)
  for index = 1, #entries, 2 do
    if #found < limit and is_after(entries[index], entries[index + 1]) then
      found[#found + 1] = { entries[index], entries[index + 1], call('HGET', ENTRIES, entries[index]) }
    end
  end
  if #entries < 2 * STEP then
    break
  end
  offset = offset + STEP
end
return found
`,
)

type EntryRow = readonly [id: string, at: string, text: string | null]

export async function readJournal(
  connection: Connection,
  filter: JournalFilter,
  page: JournalPage,
): Promise<readonly JournalEntry[]> {
  const { order, from, until, limit } = page
  const { subject, subjectId } = filter
  const list =
    subject !== undefined && subjectId !== undefined ? `:${entryListOf({ subject, subjectId })}` : ""
  const found: JournalEntry[] = []
  for (let { after } = page; found.length < limit; ) {
    const place = after === null ? ["", ""] : [after.at, after.id]
    const bounds = [numberOrNone(from ?? null), numberOrNone(until ?? null)]
    const rows = await connection.run<readonly EntryRow[]>(READ, [list, order, ...place, ...bounds, READ_MAX])
    const wanted = rows.map(entryOf).filter((entry) => isWantedEntry(entry, filter))
    found.push(...wanted.slice(0, limit - found.length))
    const last = rows.at(-1)
    if (last === undefined || rows.length < READ_MAX) break
    after = { at: Number(last[1]), id: last[0] }
  }
  return found
}

const READ_MAX = 200

/** Fields that cannot be read are empty, so that a damaged entry does not hide the others. */
function entryOf([id, at, text]: EntryRow): JournalEntry {
  const fields = fieldsIn(text)
  return {
    ...{ action: "", subject: "", subjectId: "", by: null, reason: null, before: null, after: null },
    ...fields,
    id,
    at: Number(at) as Instant,
  }
}

function fieldsIn(text: string | null): Partial<NewJournalEntry> {
  try {
    return Object(storedJson(text ?? "{}"))
  } catch {
    return {}
  }
}

// Arguments: the minimum age, the limit.
const PRUNE = scriptOf(
  [JOURNAL],
  `
local old = call('ZRANGEBYSCORE', JOURNAL, '-inf', '(' .. (now_ms() - ARGV[1]), 'LIMIT', 0, ARGV[2])
for _, id in ipairs(old) do
  call('ZREM', JOURNAL .. ':' .. (call('HGET', LISTS, id) or ''), id)
  call('ZREM', JOURNAL, id)
  call('HDEL', LISTS, id)
  call('HDEL', ENTRIES, id)
end
return #old
`,
)

export function pruneJournal(connection: Connection, olderThanMs: number, limit: number): Promise<number> {
  return connection.run<number>(PRUNE, [olderThanMs, limit])
}
