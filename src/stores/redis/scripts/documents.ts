import { UNREADABLE_VERSION } from "../../../core/records/damaged-records.ts"
import type { Document, NewDocument } from "../../../core/records/document.ts"
import type { NewJournalEntry } from "../../../core/records/journal.ts"
import type { DocumentFilter, DocumentPage, Swap } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import { readableDocument } from "../../kit/readable-document.ts"
import type { Connection } from "../connection.ts"
import { entryArgs } from "../entry-args.ts"
import { JOURNAL } from "../lua/journal.ts"
import { KEYS } from "../lua/keys.ts"
import { answeringOnce, marked, scriptOf } from "../script.ts"

// A document is the text "version created updated value" in the hash of its kind.
// Arguments: kind, id, the expected version, the value or '', and the entry. Returns the new version; nil if it is stale.
const PUT = scriptOf(
  [JOURNAL],
  `
local kind, id, value, now = ARGV[1], ARGV[2], text_of(ARGV[4]), now_ms()
local documents, ids = prefix .. ':documents:' .. kind, prefix .. ':document-ids:' .. kind
local stored = call('HGET', documents, id)
local version, created_at
if stored then
  version, created_at = string.match(stored, '^(%d+) (%d+) ')
  version = version or '${UNREADABLE_VERSION}'
end
if (version or '') ~= ARGV[3] then
  return false
end

local new_version = call('INCR', prefix .. ':versions')
if value then
  call('HSET', documents, id, whole(new_version) .. ' ' .. (created_at or whole(now)) .. ' ' .. whole(now) .. ' ' .. value)
  call('ZADD', ids, 0, id)
else
  call('HDEL', documents, id)
  call('ZREM', ids, id)
end
add_entry(5, now)
call('PUBLISH', prefix .. ':hints', 'documents')
return new_version
`,
)

export async function putDocument(
  connection: Connection,
  { kind, id, value }: NewDocument,
  ifVersion: number | null,
  entry: NewJournalEntry | undefined,
): Promise<Swap> {
  const args = [
    kind,
    id,
    ifVersion ?? "",
    marked(value === null ? null : jsonText(value)),
    ...entryArgs(entry),
  ]
  const version = await connection.once<number | null>(answeringOnce(PUT), args)
  return version === null ? { outcome: "stale" } : { outcome: "done", version }
}

// Arguments: kind, the id before the first, the limit. Returns the id and the text of each.
const LIST = scriptOf(
  [KEYS],
  `
local documents, found = prefix .. ':documents:' .. ARGV[1], {}
local after = ARGV[2] == '' and '-' or '(' .. text_of(ARGV[2])
for _, id in ipairs(call('ZRANGEBYLEX', prefix .. ':document-ids:' .. ARGV[1], after, '+', 'LIMIT', 0, ARGV[3])) do
  found[#found + 1] = { id, call('HGET', documents, id) }
end
return found
`,
)

// Arguments: kind, and the ids.
const READ = scriptOf(
  [KEYS],
  `
local documents, found = prefix .. ':documents:' .. ARGV[1], {}
for index = 2, #ARGV do
  local text = call('HGET', documents, ARGV[index])
  if text then
    found[#found + 1] = { ARGV[index], text }
  end
end
return found
`,
)

type DocumentRow = readonly [id: string, text: string | null]

export async function findDocuments(
  connection: Connection,
  { kind, ids }: DocumentFilter,
  { afterId, limit }: DocumentPage,
): Promise<readonly Document[]> {
  if (ids === undefined) {
    const rows = await connection.run<readonly DocumentRow[]>(LIST, [kind, marked(afterId), limit])
    return rows.map((row) => documentOf(kind, row))
  }
  const wanted = [...new Set(ids)]
    .filter((id) => afterId === null || id > afterId)
    .sort((a, b) => (a < b ? -1 : 1))
  const rows = await connection.run<readonly DocumentRow[]>(READ, [kind, ...wanted])
  return rows.slice(0, limit).map((row) => documentOf(kind, row))
}

function documentOf(kind: string, [id, text]: DocumentRow): Document {
  const parts = /^(\d+) (\d+) (\d+) (.*)$/s.exec(text ?? "")
  const [version, createdAt, updatedAt] = parts?.slice(1, 4).map(Number) ?? [UNREADABLE_VERSION, 0, 0]
  return readableDocument(
    { kind, id, version: version!, createdAt: createdAt!, updatedAt: updatedAt! },
    parts?.[4] ?? "",
  )
}
