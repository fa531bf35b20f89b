/**
 * When a run with a key ends or waits again, as many that wait for that key come back to their queues as it has room for. Needs
 * `RUNS` before it.
 */
export const UNPARKING = `
local news, touched = {}, {}
local ROOM_MAX = 500

local function unpark_of(key, place)
  local limit, priority, task = string.match(place, '^(%-?%d+):(%-?%d+):(.*)$')
  local room = math.min(limit - (call('HGET', RUNNING, key) or 0), ROOM_MAX)
  if room <= 0 then
    return
  end
  local waiting = waiting_key(limit, priority, task, key)
  local runs = call('ZRANGE', waiting, 0, room - 1, 'WITHSCORES')
  for index = 1, #runs, 2 do
    call('ZREM', waiting, runs[index])
    put_in_queue(runs[index], task, priority, runs[index + 1])
    news.runs = true
  end
  if #runs < 2 * room then
    call('SREM', prefix .. ':parked:' .. key, place)
    if call('EXISTS', prefix .. ':parked:' .. key) == 0 then
      call('SREM', prefix .. ':parked', key)
    end
  end
end

-- Nobody waits for most keys, so all are asked about at once.
local function unpark()
  if #touched == 0 then
    return
  end
  for index, is_parked in ipairs(call('SMISMEMBER', prefix .. ':parked', unpack(touched))) do
    if is_parked == 1 then
      for _, place in ipairs(call('SMEMBERS', prefix .. ':parked:' .. touched[index])) do
        unpark_of(touched[index], place)
      end
    end
  end
end
`
