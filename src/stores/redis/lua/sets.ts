import { luaPiece } from "../script.ts"
import { KEYS } from "./keys.ts"
/**
 * Collects changes to sets that many runs of a script share, and writes them at the end, with one command for each key. A command
 * for each run takes three times as long. Sets that few runs share are written directly.
 */
export const SETS = luaPiece(
  [KEYS],
  `
-- Below the number of values that Lua's unpack can return.
local CHUNK = 4000

local function write_chunks(command, key, list)
  local length = #list
  for from = 1, length, CHUNK do
    call(command, key, unpack(list, from, math.min(from + CHUNK - 1, length)))
  end
end

local additions, removals, moved = {}, {}, {}

local function put(set, member, score)
  local list = additions[set]
  if not list then
    list = {}
    additions[set] = list
  end
  local length = #list
  list[length + 1], list[length + 2] = score, member
end

local function take(set, member)
  local list = removals[set]
  if not list then
    list = {}
    removals[set] = list
  end
  list[#list + 1] = member
end

local function write_sets()
  for set, members in pairs(removals) do
    write_chunks('ZREM', set, members)
  end
  for set, members in pairs(additions) do
    write_chunks('ZADD', set, members)
  end
  additions, removals, moved = {}, {}, {}
end

-- Must be called before a member is moved. If it was moved before, the collected changes are written first: removals are written
-- before additions, so the order of two moves would be lost.
local function move(member)
  if moved[member] then
    write_sets()
  end
  moved[member] = true
end

local function write_sums(hash, fields, changes, recount)
  local changed, length, emptied = {}, 0, {}
  local stored = call('HMGET', hash, unpack(fields))
  for index, field in ipairs(fields) do
    local count = count_in(stored[index])
    local sum
    if count then
      sum = count + changes[index]
    else
      sum = recount and recount(field)
    end
    if sum == 0 then
      emptied[#emptied + 1] = field
    elseif sum then
      changed[length + 1], changed[length + 2] = field, whole(sum)
      length = length + 2
    end
  end
  if length > 0 then
    call('HSET', hash, unpack(changed))
  end
  if #emptied > 0 then
    call('HDEL', hash, unpack(emptied))
  end
end

-- Adds each change to its field, and deletes fields that become 0. A field that is not a count is counted again by 'recount', or
-- is left invalid, so that readers do not use it.
local function write_changes(hash, changes_by_field, recount)
  local fields, changes, length = {}, {}, 0
  for field, change in pairs(changes_by_field) do
    if change ~= 0 then
      length = length + 1
      fields[length], changes[length] = field, change
    end
    if length == CHUNK / 2 then
      write_sums(hash, fields, changes, recount)
      fields, changes, length = {}, {}, 0
    end
  end
  if length > 0 then
    write_sums(hash, fields, changes, recount)
  end
end
`,
)
