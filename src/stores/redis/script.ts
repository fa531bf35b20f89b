import { createHash } from "node:crypto"

/** A piece of Lua that Redis runs as one atom, and the name the server knows it by. */
export interface Script {
  readonly text: string
  readonly sha: string
}

/** Pieces in the order of their use: what a script shares with others comes before its own. */
export function scriptOf(...pieces: readonly string[]): Script {
  const text = pieces.join("\n")
  return { text, sha: createHash("sha1").update(text).digest("hex") }
}

/** Twice as long as a caller waits for its answer. It is short, since a busy store makes thousands of calls each second. */
const KEPT_MS = 10_000

/**
 * The same script for a write, with the call's own key as its second. A driver that was cut off sends again what it has no answer
 * to. The first answer is kept under the call's key, so that a call which was done isn't told that somebody was first.
 */
export const answeringOnce = madeOnce(
  ({ text }) => `
local kept = redis.call('GET', KEYS[2])
if kept then
  return cmsgpack.unpack(kept)
end
local function perform()
${text}
end
local answer = perform()
redis.call('SET', KEYS[2], cmsgpack.pack(answer), 'PX', ${KEPT_MS})
return answer
`,
)

/** As above, where the answer is too large to be kept: a second one is a fault, and its caller looks at what became of the first. */
export const runningOnce = madeOnce(
  ({ text }) => `
if redis.call('EXISTS', KEYS[2]) == 1 then
  return redis.error_reply('RESENT The call was sent again')
end
redis.call('SET', KEYS[2], '', 'PX', ${KEPT_MS})
${text}
`,
)

function madeOnce(change: (script: Script) => string): (script: Script) => Script {
  const made = new Map<Script, Script>()
  return (script) => {
    const found = made.get(script) ?? scriptOf(change(script))
    made.set(script, found)
    return found
  }
}

/** A script keeps everybody else waiting: more than this goes in several, each of some milliseconds. */
export const SLICE = 250

export function slicesOf<T>(items: readonly T[], size = SLICE): readonly (readonly T[])[] {
  if (items.length <= size) return items.length === 0 ? [] : [items]
  const slices: T[][] = []
  for (let from = 0; from < items.length; from += size) slices.push(items.slice(from, from + size))
  return slices
}

/** All answers in order. While the server works on a slice the next one is put together and sent: two are under way, no more. */
export async function answersOf<T, A>(
  slices: readonly (readonly T[])[],
  send: (slice: readonly T[]) => Promise<readonly A[]>,
): Promise<readonly A[]> {
  const answers: A[] = []
  let before: Promise<readonly A[]> = Promise.resolve([])
  for (const slice of slices) {
    const sent = send(slice)
    // If the one before fails nobody waits for this one any more.
    sent.catch(() => undefined)
    for (const answer of await before) answers.push(answer)
    before = sent
  }
  for (const answer of await before) answers.push(answer)
  return answers
}

/** Nothing is sent as "", so a text says by its first character that it is one. */
export function marked(text: string | null): string {
  return text === null ? "" : `=${text}`
}

export function numberOrNone(value: number | null): string | number {
  return value === null ? "" : value
}
