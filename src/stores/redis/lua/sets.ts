/**
 * What many runs of one script change alike is gathered, and written at the end by one command for each key: a command for each
 * run takes three times as long. Sets that only a few runs share are written at once, where the runs are.
 */
export const SETS = `
-- Below what Lua can unpack at once.
local CHUNK = 4000

local function write_chunks(command, key, list)
  local length = #list
  for from = 1, length, CHUNK do
    call(command, key, unpack(list, from, math.min(from + CHUNK - 1, length)))
  end
end

local putting, taking, moved = {}, {}, {}

local function put(set, member, score)
  local list = putting[set]
  if not list then
    list = {}
    putting[set] = list
  end
  local length = #list
  list[length + 1], list[length + 2] = score, member
end

local function take(set, member)
  local list = taking[set]
  if not list then
    list = {}
    taking[set] = list
  end
  list[#list + 1] = member
end

local function write_sets()
  for set, members in pairs(taking) do
    write_chunks('ZREM', set, members)
  end
  for set, members in pairs(putting) do
    write_chunks('ZADD', set, members)
  end
  putting, taking, moved = {}, {}, {}
end

-- Said before a member is moved. What is gathered is written first if it was moved before, so that the last word holds.
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

-- Adds each change to its field; a field that comes to nought goes. A field that holds no count is counted again, or stays
-- as it is, so that nobody relies on it.
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
`
