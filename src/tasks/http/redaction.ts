/** A shorter value can't be secret, and replacing it would make every text unreadable. */
const REDACTED_MIN_LENGTH = 4

/** A value that must not be stored, and its replacement. */
export interface Secret {
  readonly value: string
  readonly shown: string
}

/** Replaces secret values in texts, in every usual encoding. */
export class Redaction {
  readonly #secrets: readonly EncodedSecret[]

  constructor(secrets: Iterable<Secret>) {
    // Longest first, because one value may be a part of another.
    this.#secrets = [...secrets]
      .filter(({ value }) => value.length >= REDACTED_MIN_LENGTH)
      .sort((a, b) => b.value.length - a.value.length)
      .map((secret) => ({
        ...secret,
        pattern: percentPattern(secret.value),
        encodings: encodingsOf(secret.value),
      }))
  }

  text(text: string): string {
    let clean = text
    for (const { shown, pattern, encodings } of this.#secrets) {
      for (const encoding of encodings) clean = clean.replaceAll(encoding, () => shown)
      clean = clean.replaceAll(pattern, () => shown)
    }
    return clean
  }

  /** Like `text`, for a text that was cut and may end with the beginning of a value. */
  cutText(text: string): string {
    let clean = this.text(text)
    for (const { encodings } of this.#secrets) {
      for (const encoding of encodings) clean = clean.slice(0, clean.length - overhang(clean, encoding))
    }
    return clean
  }

  /** The number or its replacement. Parsing a long number loses digits, so it is also compared as a number. */
  number(number: number): number | string {
    const found = this.#secrets.find(({ value }) => Number(value) === number)
    if (found !== undefined) return found.shown
    const text = String(number)
    const clean = this.text(text)
    return clean === text ? number : clean
  }
}

interface EncodedSecret extends Secret {
  readonly pattern: RegExp
  readonly encodings: readonly string[]
}

/** As it is, percent-encoded, as JSON (with and without escaped slashes), and as HTML. */
function encodingsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1)
  const html = value.replaceAll(/[&<>"']/g, (character) => HTML[character]!)
  return [...new Set([value, encodeURIComponent(value), json, json.replaceAll("/", "\\/"), html])]
}

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** Servers, URL parsers and forms percent-encode different characters, in upper or lower case. A form writes a space as `+`. */
function percentPattern(value: string): RegExp {
  const characters = [...value].map((character) => {
    const literal = `\\u{${character.codePointAt(0)!.toString(16)}}`
    const bytes = [...Buffer.from(character)].map(percentForm).join("")
    return `(?:${literal}|${bytes}${character === " " ? "|\\+" : ""})`
  })
  return new RegExp(characters.join(""), "gu")
}

function percentForm(byte: number): string {
  const digits = byte.toString(16).padStart(2, "0")
  return `%${digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`
}

/** How many characters at the end of the text are the beginning of the value. */
function overhang(text: string, value: string): number {
  let length = Math.min(value.length - 1, text.length)
  while (length > 0 && !text.endsWith(value.slice(0, length))) length--
  return length
}
