/** How many arguments an entry has: its id or nothing, the list of what it is about, and its text. */
export const ENTRY_ARGS = 3

/**
 * Entries of the journal: all by their instant, and those of one thing. The text says all but the instant, which is the score.
 * Needs `KEYS` before it.
 */
export const JOURNAL = `
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
`
