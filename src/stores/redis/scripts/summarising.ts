import type { StatisticsBucket } from "../../../core/records/statistics.ts"
import type { SummaryRequest } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { KEYS } from "../lua/keys.ts"
import { scriptOf } from "../script.ts"
import { countersIn } from "../statistics-args.ts"

// Arguments: the span, the subject, and the bounds. Returns buckets and their counters, in no particular order.
const SUMMARISE = scriptOf(
  [KEYS],
  `
local fields = redis.pcall('HGETALL', prefix .. ':statistics:' .. ARGV[1] .. ':' .. ARGV[2])
if fields.err then
  return {}
end
local kept = 0
for index = 1, #fields, 2 do
  if fields[index] == 'kept' then
    kept = tonumber(fields[index + 1]) or 0
  end
end
local from, till = tonumber(ARGV[3]), tonumber(ARGV[4])
local oldest = now_ms() - kept - ARGV[1]
local found = {}
for index = 1, #fields, 2 do
  local at = tonumber(fields[index])
  if at and at >= from and at < till and at > oldest then
    found[#found + 1] = fields[index]
    found[#found + 1] = fields[index + 1]
  end
end
return found
`,
)

export async function summarise(
  connection: Connection,
  { subject, spanMs, from, until, limit }: SummaryRequest,
): Promise<readonly StatisticsBucket[]> {
  const found = await connection.run<readonly string[]>(SUMMARISE, [spanMs, subject, from, until])
  const buckets = found.flatMap((at, index) =>
    index % 2 === 0 ? [{ at: Number(at), counters: countersIn(found[index + 1]!) }] : [],
  )
  return buckets.sort((a, b) => a.at - b.at).slice(0, limit)
}
