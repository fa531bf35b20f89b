/**
 * Every script begins with this: its clock, and what keys begin with. Whatever a caller named comes last in a key, and as it
 * is: keys may be made of any bytes, the hash tag is before it, and to write what looks odd as %XX took Lua 4 µs a key, as
 * long as everything else that is done for a run.
 */
export const KEYS = `
local prefix = KEYS[1]
local call = redis.call

local function now_ms()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- As a command takes it. A number would be written with 17 digits at each, which takes longer than the rest of a call.
local function whole(number)
  return string.format('%d', number)
end

-- The fields of a record. One whose key holds something else than a hash is as good as not there: the others go on.
local function fields_in(key, ...)
  local found = redis.pcall('HMGET', key, ...)
  return found.err and {} or found
end

-- What was written past our door may be no number, and arithmetic on it would end the script for all others.
local function number_or(value, otherwise)
  return value and tonumber(value) and value or otherwise
end

-- How many there are, as it is stored; nothing if that was written past our door, and is no count.
local function count_in(stored)
  local count = tonumber(stored or 0)
  return count and count >= 0 and count < 2 ^ 53 and count % 1 == 0 and count
end

-- By their bytes, as Redis orders members: Lua's own comparison is by the server's language.
local function is_less(a, b)
  for place = 1, math.min(#a, #b) do
    local x, y = string.byte(a, place), string.byte(b, place)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

-- Nothing is sent as '', a text with a '=' before it.
local function text_of(value)
  return value ~= '' and string.sub(value, 2)
end
`
