import { DATE_MAX } from "../../../core/records/valid-records.ts"
import { luaPiece } from "../script.ts"

/**
 * Converts instants to text and back. In hashes an instant is RFC 3339 text, for people. As a score, and within JSON, it is
 * milliseconds since 1970. Lua has no function for either. Many runs of one script share instants, so results are cached.
 */
export const INSTANTS = luaPiece(
  [],
  `
local texts, instants = {}, {}
local DATE_MAX = ${DATE_MAX}

-- Converts days since 1970 to a date. Years are counted from March, so that the leap day is the last day of a year.
local function text_at(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  local since = days + 719468
  local era = math.floor(since / 146097)
  local day_of_era = since - era * 146097
  local year = math.floor((day_of_era - math.floor(day_of_era / 1460) + math.floor(day_of_era / 36524)
    - math.floor(day_of_era / 146096)) / 365)
  local day = day_of_era - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * day + 2) / 153)
  local date = day - math.floor((153 * month + 2) / 5) + 1
  month = month < 10 and month + 3 or month - 9
  year = year + era * 400 + (month <= 2 and 1 or 0)
  -- Years outside 0 to 9999 have a sign and six digits, as JavaScript writes them.
  local form = (year < 0 or year > 9999) and '%+07d' or '%04d'
  return string.format(form .. '-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, date,
    math.floor(rest / 3600000), math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end

-- A score beyond any date was written by another program. It is returned as it is.
local function rfc_3339(ms)
  local text = texts[ms]
  if not text then
    local at = tonumber(ms)
    text = at >= -DATE_MAX and at <= DATE_MAX and text_at(at) or tostring(ms)
    texts[ms] = text
  end
  return text
end

local function days_to(year, month, date)
  year = month <= 2 and year - 1 or year
  local era = math.floor(year / 400)
  local year_of_era = year - era * 400
  local day = math.floor((153 * ((month + 9) % 12) + 2) / 5) + date - 1
  return era * 146097 + year_of_era * 365 + math.floor(year_of_era / 4) - math.floor(year_of_era / 100) + day - 719468
end

local function ms_in(text)
  local year, month, date, hour, minute, second, ms =
    string.match(text, '^([+-]?%d+)-(%d%d)-(%d%d)T(%d%d):(%d%d):(%d%d)%.(%d%d%d)Z$')
  if not year then
    return false
  end
  local seconds = ((days_to(tonumber(year), tonumber(month), tonumber(date)) * 24 + hour) * 60 + minute) * 60 + second
  return string.format('%.0f', seconds * 1000 + ms)
end

-- Milliseconds as text for a command. Nil if the text is not an instant, because another program wrote it.
local function ms_of(text)
  if not text then
    return nil
  end
  local ms = instants[text]
  if ms == nil then
    ms = ms_in(text)
    instants[text] = ms
  end
  return ms or nil
end
`,
)
