import { luaPiece } from "../script.ts"
/**
 * Every script begins with this: the prefix of keys, the clock, and helpers. Names from callers come last in a key, unescaped:
 * keys may contain any bytes, and the hash tag comes first. Escaping as %XX took Lua 4 µs a key, as long as all other work for a
 * run.
 */
export const KEYS = luaPiece(
  [],
  `
local prefix = KEYS[1]
local call = redis.call

local function now_ms()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- An integer as text for a command. Redis formats a Lua number with 17 digits, which takes longer than the rest of a call.
local function whole(number)
  return string.format('%d', number)
end

-- The fields of a record. A key that is not a hash is treated as missing, so that the other records can be used.
local function fields_in(key, ...)
  local found = redis.pcall('HMGET', key, ...)
  return found.err and {} or found
end

-- Values written by other programs may not be numbers. Arithmetic on them would abort the script for every record of the call.
local function number_or(value, otherwise)
  return value and tonumber(value) and value or otherwise
end

-- A stored count as a number. False or nil if the value is not a count, because another program wrote it.
local function count_in(stored)
  local count = tonumber(stored or 0)
  return count and count >= 0 and count < 2 ^ 53 and count % 1 == 0 and count
end

-- Compares bytes, as Redis orders members. Lua's operator would use the server's locale.
local function is_less(a, b)
  for place = 1, math.min(#a, #b) do
    local x, y = string.byte(a, place), string.byte(b, place)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

-- '' stands for no value; a text has '=' before it.
local function text_of(value)
  return value ~= '' and string.sub(value, 2)
end
`,
)
