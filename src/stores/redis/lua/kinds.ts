import { luaPiece } from "../script.ts"
/**
 * Reads runs from the arguments that `kinds.ts` sends. A kind is the number of arguments for shared fields, the number of names
 * of own fields, the head, the shared fields and the names. A run is the number of its kind, its id, a time if the kind is
 * timed, and its own values.
 */
export const KINDS = luaPiece(
  [],
  `
local kinds = {}

-- 'begin' makes the kind's record from its head, with the fields that each of its runs gets. Returns where the runs begin.
local function read_kinds(at, head_size, begin)
  local next_at = at + 1
  for number = 1, tonumber(ARGV[at]) do
    local common = next_at + 2 + head_size
    local names = common + ARGV[next_at]
    local kind = begin(next_at + 2)
    local fields = kind.fields
    for place = common, names - 1 do
      fields[#fields + 1] = ARGV[place]
    end
    kind.own, kind.length, kind.places = tonumber(ARGV[next_at + 1]), #fields, {}
    kind.first = kind.is_timed and 3 or 2
    for index = 1, kind.own do
      local name = ARGV[names + index - 1]
      fields[kind.length + 2 * index - 1] = name
      kind.places[name] = kind.first + index - 1
    end
    kinds[tostring(number)] = kind
    next_at = names + kind.own
  end
  return next_at
end

local function end_of(at)
  local kind = kinds[ARGV[at]]
  return at + kind.first + kind.own
end

local function time_of(kind, at)
  return kind.is_timed and ARGV[at + 2]
end

local function own_value(kind, at, name)
  local place = kind.places[name]
  return place and ARGV[at + place]
end

-- Names and values for a command. The table is reused by the next call for the same kind.
local function fields_of(kind, at)
  local fields, length, first = kind.fields, kind.length, at + kind.first - 1
  for index = 1, kind.own do
    fields[length + 2 * index] = ARGV[first + index]
  end
  return fields
end
`,
)
