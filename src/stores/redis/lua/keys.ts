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

-- Nothing is sent as '', a text with a '=' before it.
local function text_of(value)
  return value ~= '' and string.sub(value, 2)
end
`
