import type { Connection } from "../connection.ts"
import { KEYS } from "../lua/keys.ts"
import { RUNS } from "../lua/runs.ts"
import { marked, SLICE, scriptOf } from "../script.ts"

/**
 * Early versions had no lists of runs by id, by task, by parent and by rare triggers, and none of running runs. While such a
 * process shares the keys during a deploy, the runs it creates are missing from these lists, and the runs it prunes remain in
 * them.
 */

const SIZES = scriptOf(
  [KEYS],
  "return { call('ZCARD', prefix .. ':history:created'), call('ZCARD', prefix .. ':run-ids') }",
)

// Arguments: how many of the oldest runs were done before, and how many to do. Returns how many there were.
const ADD = scriptOf(
  [RUNS],
  `
local places = call('ZRANGE', CREATED, ARGV[1], ARGV[1] + ARGV[2] - 1, 'WITHSCORES')
for at = 1, #places, 2 do
  local id, created_at = places[at], places[at + 1]
  local fields = fields_in(RUNS .. id, 'task', 'parent_id', 'state', 'triggered_by')
  if fields[1] then
    list_run(id, { task = fields[1], parent_id = fields[2], triggered_by = fields[4], created_at = created_at })
    if fields[3] == 'running' then
      put(ALL_RUNNING, id, created_at)
    end
  end
end
write_sets()
return #places / 2
`,
)

// Arguments: the id before the first, and how many to check. Returns the last id checked.
const REMOVE = scriptOf(
  [RUNS],
  `
local after = text_of(ARGV[1])
local ids = call('ZRANGEBYLEX', RUN_IDS, after and '(' .. after or '-', '+', 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do
  if call('EXISTS', RUNS .. id) == 0 then
    take(RUN_IDS, id)
  end
end
write_sets()
return ids[#ids] or false
`,
)

/** Compares two sizes, and does nothing if they are equal. */
export async function completeLists(connection: Connection): Promise<void> {
  const [runs, listed] = await connection.run<readonly [number, number]>(SIZES, [])
  if (runs === listed) return
  for (let from = 0, found = SLICE; found === SLICE; from += SLICE)
    found = await connection.run<number>(ADD, [from, SLICE])
  for (let after: string | null = null; ; ) {
    after = await connection.run<string | null>(REMOVE, [marked(after), SLICE])
    if (after === null) return
  }
}
