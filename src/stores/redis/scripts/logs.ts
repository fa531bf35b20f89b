import { storedJson } from "../../../core/values/json.ts"
import type { LogLine, LogPage, StoredLogLine } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import type { Connection } from "../connection.ts"
import { instantIn } from "../instants.ts"
import { INSTANTS } from "../lua/instants.ts"
import { KEYS } from "../lua/keys.ts"
import { scriptOf, slicesOf } from "../script.ts"

/** The score of a line is attempt * 2^32 + number: the number has 32 bits, the attempt the other bits of a double's integer. */
const ATTEMPT = 2 ** 32

// Arguments: run, score, age and text of each line. A line that exists is kept as it is. A line of a deleted run is dropped. A
// member is the instant, a space and the text.
const APPEND = scriptOf(
  [KEYS, INSTANTS],
  `
local now = now_ms()
local exists = {}
for at = 1, #ARGV, 4 do
  local id, score = ARGV[at], ARGV[at + 1]
  if exists[id] == nil then
    exists[id] = call('EXISTS', prefix .. ':runs:' .. id) == 1
  end
  local key = prefix .. ':logs:' .. id
  -- A key of the wrong type returns an error, and its lines are dropped.
  if exists[id] and redis.pcall('ZCOUNT', key, score, score) == 0 then
    call('ZADD', key, score, rfc_3339(now - math.floor(ARGV[at + 2])) .. ' ' .. ARGV[at + 3])
  end
end
`,
)

// Arguments: run, the score before the first, the limit.
const READ = scriptOf(
  [KEYS],
  `
local lines = redis.pcall(
  'ZRANGEBYSCORE', prefix .. ':logs:' .. ARGV[1], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3]
)
return lines.err and {} or lines
`,
)

export async function appendLines(connection: Connection, lines: readonly LogLine[]): Promise<void> {
  for (const slice of slicesOf(lines)) {
    await connection.run(
      APPEND,
      slice.flatMap(({ runId, agoMs, ...line }) => [runId, scoreOf(line), agoMs, jsonText(line)]),
    )
  }
}

export async function readLines(
  connection: Connection,
  { runId, after, limit }: LogPage,
): Promise<readonly StoredLogLine[]> {
  const from = after === null ? -1 : scoreOf(after)
  const found = await connection.run<readonly string[]>(READ, [runId, from, limit])
  return found.flatMap((member, index) => (index % 2 === 0 ? [lineOf(member, Number(found[index + 1]))] : []))
}

/** The attempt and the number come from the score, so a page can continue after a line that cannot be read. */
function lineOf(member: string, score: number): StoredLogLine {
  const space = member.indexOf(" ")
  const attempt = Math.floor(score / ATTEMPT)
  const place = { attempt, number: score - attempt * ATTEMPT }
  const at = instantIn(member.slice(0, space))
  const line = readableLine(member.slice(space + 1))
  if (line !== null && at !== null && Number.isFinite(at)) return { ...line, ...place, at }
  return { ...place, at: 0, level: "warn", message: "This line can't be read", fields: null }
}

function readableLine(text: string): Pick<StoredLogLine, "level" | "message" | "fields"> | null {
  try {
    const { level, message, fields } = storedJson<StoredLogLine>(text)
    const isLine = typeof level === "string" && typeof message === "string"
    return isLine ? { level, message, fields: fields ?? null } : null
  } catch {
    return null
  }
}

function scoreOf({ attempt, number }: { readonly attempt: number; readonly number: number }): number {
  return attempt * ATTEMPT + number
}
