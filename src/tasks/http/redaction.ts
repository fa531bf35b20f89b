/** A shorter value hides nothing, and to blot it out would make every text unreadable. */
const REDACTED_MIN_LENGTH = 4

/** A value that must not be kept, and what stands in its place. */
export interface Secret {
  readonly value: string
  readonly shown: string
}

/** Takes values out of texts, however they are written there. */
export class Redaction {
  readonly #secrets: readonly Spelled[]

  constructor(secrets: Iterable<Secret>) {
    // The longest first: one value may be a part of another.
    this.#secrets = [...secrets]
      .filter(({ value }) => value.length >= REDACTED_MIN_LENGTH)
      .sort((a, b) => b.value.length - a.value.length)
      .map((secret) => ({
        ...secret,
        pattern: percentPattern(secret.value),
        spellings: spellingsOf(secret.value),
      }))
  }

  text(text: string): string {
    let clean = text
    for (const { shown, pattern, spellings } of this.#secrets) {
      for (const spelling of spellings) clean = clean.replaceAll(spelling, () => shown)
      clean = clean.replaceAll(pattern, () => shown)
    }
    return clean
  }

  /** As `text`, for one that was cut: the beginning of a value may be at its end. */
  cutText(text: string): string {
    let clean = this.text(text)
    for (const { spellings } of this.#secrets) {
      for (const spelling of spellings) clean = clean.slice(0, clean.length - overhang(clean, spelling))
    }
    return clean
  }

  /** The number, or what stands in its place. A long one has lost digits in reading, so it is compared as a number, too. */
  number(number: number): number | string {
    const found = this.#secrets.find(({ value }) => Number(value) === number)
    if (found !== undefined) return found.shown
    const text = String(number)
    const clean = this.text(text)
    return clean === text ? number : clean
  }
}

interface Spelled extends Secret {
  readonly pattern: RegExp
  readonly spellings: readonly string[]
}

/** As it is, percent-encoded, as JSON (of which some escape slashes), as HTML. */
function spellingsOf(value: string): readonly string[] {
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

/** Servers, URL parsers and forms percent-encode different characters, in capitals or not; a form writes a space as `+`. */
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
