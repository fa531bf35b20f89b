import { BelfryError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"

/** `{{env.NAME}}`, where a payload refers to what it must not hold. */
const REFERENCE = /\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

/** A shorter value hides nothing, and to blot it out would make every text unreadable. */
const REDACTED_MIN_LENGTH = 4

export function referencesIn(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].map((match) => match[1]!)
}

/** What comes before the path: scheme and host, or a reference in their place. */
export function originOf(template: string): string {
  return /^[^/?#]*(?:\/\/[^/?#]*)?/.exec(template)![0]
}

/** The variables a task may use, read when a run needs them, and taken out again of whatever comes back. */
export class Environment {
  readonly #allowed: ReadonlySet<string>
  readonly #variables: Readonly<Record<string, string | undefined>>
  /** By value: what was filled in, and the name it goes by. */
  readonly #used = new Map<string, string>()

  constructor(allowed: ReadonlySet<string>, variables: Readonly<Record<string, string | undefined>>) {
    this.#allowed = allowed
    this.#variables = variables
  }

  /** The variable's value. Its name comes from a payload, so only names in the task's options are looked up. */
  read(name: string): string {
    if (!this.#allowed.has(name)) {
      throw new BelfryError(
        "BELFRY_SECRET_INVALID",
        `The environment variable ${name} is not in the \`env\` list of the http task.`,
      )
    }
    const value = this.#variables[name]
    if (value !== undefined && value !== "") return value
    throw new BelfryError(
      "BELFRY_SECRET_INVALID",
      `The environment variable ${name} is not set in this worker.`,
    )
  }

  fill(text: string, encode: (value: string) => string = (value) => value): string {
    return text.replaceAll(REFERENCE, (_, name: string) => {
      const value = this.read(name)
      this.#used.set(value, name)
      return encode(value)
    })
  }

  fillJson(value: Json): Json {
    return mapTexts(value, (text) => this.fill(text))
  }

  /** Hides the host, too, if a variable says which: errors name it alone, without the rest of the value. */
  hideHost(template: string, host: string): void {
    const [name] = referencesIn(originOf(template))
    if (name !== undefined) this.#used.set(host, name)
  }

  /** Up to the path a value is taken as it is, so that it may be a whole origin; from there on it is percent-encoded. */
  fillUrl(template: string): string {
    const origin = originOf(template)
    return this.fill(origin) + this.fill(template.slice(origin.length), encodeURIComponent)
  }

  /** The text without the values that were filled in: a server may send back what it was sent. */
  redact(text: string): string {
    let clean = text
    for (const [value, name] of this.#secrets()) {
      const spellings = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
      for (const spelling of spellings) clean = clean.replaceAll(spelling, `{{env.${name}}}`)
    }
    return clean
  }

  /** As `redact`, for a text that was cut: the beginning of a value may be at its end. */
  redactCut(text: string): string {
    let clean = this.redact(text)
    for (const [value] of this.#secrets()) {
      let length = Math.min(value.length - 1, clean.length)
      while (length > 0 && !clean.endsWith(value.slice(0, length))) length--
      clean = clean.slice(0, clean.length - length)
    }
    return clean
  }

  /** The longest first: one value may be a part of another. */
  #secrets(): readonly (readonly [string, string])[] {
    return [...this.#used]
      .filter(([value]) => value.length >= REDACTED_MIN_LENGTH)
      .sort(([a], [b]) => b.length - a.length)
  }
}

/** Every text in the value, keys included. */
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value)
  if (Array.isArray(value)) return value.map((each: Json) => mapTexts(each, change))
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), mapTexts(each, change)]))
}
