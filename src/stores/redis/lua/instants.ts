/** Instants as people read them: scripts know the clock, and Lua's own dates are not for them. */
export const INSTANTS = `
-- Days since 1970 as a date, by counting years from March: the leap day is then their last.
local function rfc_3339(ms)
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
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year + era * 400 + (month <= 2 and 1 or 0), month, date,
    math.floor(rest / 3600000), math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end
`
