import { DATE_MAX } from "../../../core/records/valid-records.ts"
import { luaPiece } from "../script.ts"
import { INSTANTS } from "./instants.ts"
import { KEYS } from "./keys.ts"

/**
 * The worker's queues that have due runs, by priority, and when the next run after now is due. Read before any run is claimed,
 * because a claimed run is due again when its lease ends.
 */
export const QUEUES = luaPiece(
  [KEYS, INSTANTS],
  `
local now = now_ms()
local now_text, now_iso = whole(now), rfc_3339(now)
local worker, limit = ARGV[1], tonumber(ARGV[2])
local next_at = false
local due, priorities, sources = {}, {}, {}

-- A score beyond any date never comes. Converted to an integer, infinity would be in the past, and the worker would claim in a
-- loop.
local function note_next(head)
  local at = head[2] and tonumber(head[2])
  if at and at <= ${DATE_MAX} and (not next_at or at < next_at) then
    next_at = at
  end
end

local function read_queue(task, leased_until, priority)
  local queue = prefix .. ':queue:' .. priority .. ':' .. task
  local head = redis.pcall('ZRANGE', queue, 0, 0, 'WITHSCORES')
  if head.err then
    -- The key has the wrong type. Runs of this task and priority cannot be claimed; all others can.
    return
  elseif #head == 0 then
    call('ZREM', prefix .. ':priorities:' .. task, priority)
  elseif tonumber(head[2]) > now then
    note_next(head)
  else
    note_next(call('ZRANGEBYSCORE', queue, '(' .. now_text, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
    if not due[priority] then
      due[priority] = {}
      priorities[#priorities + 1] = priority
    end
    sources[#sources + 1] = { task, priority }
    table.insert(due[priority], {
      number = #sources, task = task, priority = priority, queue = queue, leased_until = leased_until, from = 0, at = 1, runs = {},
    })
  end
end

for at = 3, #ARGV, 2 do
  for _, priority in ipairs(call('ZRANGE', prefix .. ':priorities:' .. ARGV[at], 0, -1)) do
    -- A member that is not a number was written by another program. Priorities are compared below.
    if tonumber(priority) then
      read_queue(ARGV[at], whole(now + ARGV[at + 1]), priority)
    end
  end
end
table.sort(priorities, function (a, b) return tonumber(a) > tonumber(b) end)
`,
)
