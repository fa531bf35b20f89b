import { createHash } from "node:crypto"

/** A Lua script, which Redis runs atomically, and its SHA-1, by which the server knows it. */
export interface Script {
  readonly text: string
  readonly sha: string
}

/** A part of scripts: Lua that defines locals. `needs` are the pieces with the locals that it uses. */
export interface LuaPiece {
  readonly needs: readonly LuaPiece[]
  readonly text: string
}

export function luaPiece(needs: readonly LuaPiece[], text: string): LuaPiece {
  return { needs, text }
}

/** The pieces that the body uses, with all the pieces they need, and the body. Each piece comes once, after those it needs. */
export function scriptOf(needs: readonly LuaPiece[], body: string): Script {
  const text = [...inOrder(needs)].map((piece) => piece.text).join("\n") + body
  return { text, sha: createHash("sha1").update(text).digest("hex") }
}

/** In the order given, except that a needed piece comes first. A set keeps the place where a piece was first added. */
function inOrder(pieces: readonly LuaPiece[], ordered = new Set<LuaPiece>()): ReadonlySet<LuaPiece> {
  for (const piece of pieces) {
    inOrder(piece.needs, ordered)
    ordered.add(piece)
  }
  return ordered
}

/** Twice the deadline of a call. Kept short, because a busy store makes thousands of calls a second. */
const KEPT_MS = 10_000

/**
 * Makes a write safe to send twice. After a reconnect the driver resends calls that were not answered. The first answer is kept
 * under the call's own key, `KEYS[2]`, and is returned to the second: otherwise a call that succeeded would be told "stale".
 */
export const answeringOnce = memoised(
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

/** Like `answeringOnce`, for answers too large to keep. The second call fails, and the caller checks the effect of the first. */
export const runningOnce = memoised(
  ({ text }) => `
if redis.call('EXISTS', KEYS[2]) == 1 then
  return redis.error_reply('RESENT The call was sent again')
end
redis.call('SET', KEYS[2], '', 'PX', ${KEPT_MS})
${text}
`,
)

function memoised(change: (script: Script) => string): (script: Script) => Script {
  const made = new Map<Script, Script>()
  return (script) => {
    const found = made.get(script) ?? scriptOf([], change(script))
    made.set(script, found)
    return found
  }
}

/** The most elements for one script. A script blocks the server; one of this size takes some milliseconds. */
export const SLICE = 250

export function slicesOf<T>(items: readonly T[], size = SLICE): readonly (readonly T[])[] {
  if (items.length <= size) return items.length === 0 ? [] : [items]
  const slices: T[][] = []
  for (let from = 0; from < items.length; from += size) slices.push(items.slice(from, from + size))
  return slices
}

/** All answers in order. The next slice is built and sent while the server works on one: at most two are in flight. */
export async function answersOf<T, A>(
  slices: readonly (readonly T[])[],
  send: (slice: readonly T[]) => Promise<readonly A[]>,
): Promise<readonly A[]> {
  const answers: A[] = []
  let previous: Promise<readonly A[]> = Promise.resolve([])
  for (const slice of slices) {
    const sent = send(slice)
    // If the previous slice fails, nothing awaits this one.
    sent.catch(() => undefined)
    for (const answer of await previous) answers.push(answer)
    previous = sent
  }
  for (const answer of await previous) answers.push(answer)
  return answers
}

/** Null is sent as "", and a text with "=" before it, so that they differ. */
export function marked(text: string | null): string {
  return text === null ? "" : `=${text}`
}

export function numberOrNone(value: number | null): string | number {
  return value === null ? "" : value
}
