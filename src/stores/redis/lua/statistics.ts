import { luaPiece } from "../script.ts"
import { KEYS } from "./keys.ts"
/**
 * Each span and subject has a hash. A field is the start of a bucket; its value is the counters as "name number name number". The
 * field `kept` says how long buckets are kept; the hash expires if nothing is added for that long.
 */
export const STATISTICS = luaPiece(
  [KEYS],
  `
local function counters_in(text)
  local counters = {}
  for name, count in string.gmatch(text or '', '(%S+) (%S+)') do
    counters[name] = tonumber(count) or 0
  end
  return counters
end

local function text_of_counters(counters)
  local parts = {}
  for name, count in pairs(counters) do
    parts[#parts + 1] = name .. ' ' .. string.format('%.17g', count)
  end
  return table.concat(parts, ' ')
end

-- Called once for each new bucket.
local function drop_old(key, before)
  for _, field in ipairs(call('HKEYS', key)) do
    local at = tonumber(field)
    if at and at < before then
      call('HDEL', key, field)
    end
  end
end

local function add_counters(span, kept, subject, at, added)
  local key = prefix .. ':statistics:' .. whole(span) .. ':' .. subject
  local kind = call('TYPE', key).ok
  if kind ~= 'hash' and kind ~= 'none' then
    call('DEL', key)
  end
  local field = whole(at)
  local stored = call('HGET', key, field)
  local counters = counters_in(stored)
  for name, count in pairs(added) do
    counters[name] = (counters[name] or 0) + count
  end
  call('HSET', key, field, text_of_counters(counters), 'kept', whole(kept))
  if not stored then
    drop_old(key, at - kept)
  end
  call('PEXPIRE', key, whole(kept + 2 * span))
end

-- Arguments from 'at' on: the batch's number, then for each addition the span, how long it is kept, how long ago it was counted,
-- the subject and the counters. The worker's record stores the newest batch. Without a record nothing is added: otherwise a last
-- heartbeat that is sent twice would add its batch twice. Returns the newest batch that was added.
local function add_batch(worker_key, at, now)
  local batch = tonumber(fields_in(worker_key, 'batch')[1] or 0) or 0
  local number = tonumber(ARGV[at] or 0)
  if number <= batch or call('EXISTS', worker_key) == 0 then
    return batch
  end
  for place = at + 1, #ARGV, 5 do
    local span = tonumber(ARGV[place])
    local began = math.floor((now - ARGV[place + 2]) / span) * span
    add_counters(span, tonumber(ARGV[place + 1]), ARGV[place + 3], began, counters_in(ARGV[place + 4]))
  end
  call('HSET', worker_key, 'batch', whole(number))
  return number
end
`,
)
