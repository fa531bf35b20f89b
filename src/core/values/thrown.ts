/** A thrown value as text that every store can keep and every screen can show. Never throws. */

const ERROR_MAX_BYTES = 8_192

/** `caller`: the name, as stacks show it, of our function that called the user's code. Its frame and those below are removed. */
export function describeThrown(thrown: unknown, caller?: string): string {
  const text = textOf(thrown)
  return storable(caller === undefined ? text : withoutFrames(text, caller), ERROR_MAX_BYTES)
}

const FRAME = /^\s+at /

/** Each cause has its own stack, so the search starts again after each line that is not a frame. */
function withoutFrames(text: string, caller: string): string {
  let isBelow = false
  const kept = text.split("\n").filter((line) => {
    const isFrame = FRAME.test(line)
    isBelow = isFrame && (isBelow || line.includes(` ${caller} (`))
    return !isBelow
  })
  return kept.join("\n")
}

function textOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return errorText(thrown)
    if (typeof thrown === "object" && thrown !== null)
      return JSON.stringify(thrown) ?? Object.prototype.toString.call(thrown)
    return `${typeof thrown === "string" ? "" : `${typeof thrown} `}${String(thrown)}`
  } catch {
    // A getter that throws, a circular object, a revoked proxy.
    return `A thrown ${typeof thrown} that can't be described`
  }
}

function errorText(error: Error): string {
  const stack =
    typeof error.stack === "string" && error.stack.length > 0
      ? error.stack
      : `${error.name}: ${error.message}`
  const cause =
    error.cause === undefined
      ? ""
      : `\nCaused by: ${error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : String(error.cause)}`
  return `${stack}${cause}`
}

/** Replaces NUL (PostgreSQL refuses it) and unpaired surrogates, and cuts the text at the limit, with a mark. */
export function storable(text: string, maxBytes: number): string {
  // Every UTF-16 unit takes at least one byte. Cutting first keeps a 10 MB message cheap.
  const clean = text.slice(0, maxBytes).replaceAll("\u0000", "\uFFFD").toWellFormed()
  if (Buffer.byteLength(clean) <= maxBytes && clean.length === text.length) return clean
  const mark = "… (cut)"
  let kept = clean
  while (Buffer.byteLength(kept) > maxBytes - Buffer.byteLength(mark))
    kept = kept.slice(0, Math.floor(kept.length * 0.9))
  return `${kept.toWellFormed()}${mark}`
}
