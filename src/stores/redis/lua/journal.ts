import { luaPiece } from "../script.ts"
import { KEYS } from "./keys.ts"
/** An entry has three arguments: its id or '', the list of its subject, and its text. */
export const ENTRY_ARGS = 3

/**
 * Adds entries to the journal: to the list of all entries and to the list of the subject. The score is the instant; the text has
 * all other fields.
 */
export const JOURNAL = luaPiece(
  [KEYS],
  `
local JOURNAL, ENTRIES, LISTS = prefix .. ':journal', prefix .. ':journal-entries', prefix .. ':journal-lists'

local function add_entry(at, now)
  local id, list = ARGV[at], ARGV[at + 1]
  if id == '' or call('HSETNX', ENTRIES, id, ARGV[at + 2]) == 0 then
    return
  end
  call('HSET', LISTS, id, list)
  call('ZADD', JOURNAL, whole(now), id)
  call('ZADD', JOURNAL .. ':' .. list, whole(now), id)
end
`,
)
