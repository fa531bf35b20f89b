import { BelfryError } from "../../core/errors.ts"
import type { Json } from "../../core/values/json.ts"
import { Redaction, type Secret } from "./redaction.ts"

/** `{{env.NAME}}`: a reference to a value that a payload must not contain itself. */
const REFERENCE = /\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

export function referencesIn(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].map((match) => match[1]!)
}

/** The part before the path: scheme and host, or a reference in their place. */
export function originOf(template: string): string {
  return /^[^/?#]*(?:\/\/[^/?#]*)?/.exec(template)![0]
}

/** The variables that a task may use. They are read when a run needs them, and redacted from everything that is stored. */
export class Environment {
  readonly #allowed: ReadonlySet<string>
  readonly #variables: Readonly<Record<string, string | undefined>>
  /** The values that were filled in, by value. */
  readonly #used = new Map<string, Secret>()
  #redaction: Redaction | null = null

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
      for (const part of [value, ...credentialsIn(value)]) this.#hide(part, name)
      return encode(value)
    })
  }

  fillJson(value: Json): Json {
    return mapLeaves(value, { text: (text) => this.fill(text), number: (number) => number })
  }

  /** Also hides the host if it comes from a variable: errors name the host without the rest of the value. */
  hideHost(template: string, host: string): void {
    const [name] = referencesIn(originOf(template))
    if (name !== undefined) this.#hide(host, name)
  }

  /** Before the path a value is inserted as it is, so that it may be a whole origin. From the path on it is percent-encoded. */
  fillUrl(template: string): string {
    const origin = originOf(template)
    return this.fill(origin) + this.fill(template.slice(origin.length), encodeURIComponent)
  }

  /** Replaces the filled-in values in a text, because a server may send back what it received. */
  get redaction(): Redaction {
    this.#redaction ??= new Redaction(this.#used.values())
    return this.#redaction
  }

  #hide(value: string, name: string): void {
    this.#used.set(value, { value, shown: `{{env.${name}}}` })
    this.#redaction = null
  }
}

/** The secret part of a URL with `user:password@`. A server or an error may name it without the rest of the URL. */
function credentialsIn(value: string): readonly string[] {
  if (!URL.canParse(value)) return []
  const { username, password } = new URL(value)
  const secret = password === "" ? username : password
  try {
    return [secret, decodeURIComponent(secret)]
  } catch (error) {
    // The text has a "%" that is not an encoding.
    if (error instanceof URIError) return [secret]
    throw error
  }
}

/** Applies `change` to every string and number in the value, including keys. */
export function mapLeaves(
  value: Json,
  change: { text: (text: string) => string; number: (number: number) => Json },
): Json {
  if (typeof value === "string") return change.text(value)
  if (typeof value === "number") return change.number(value)
  if (Array.isArray(value)) return value.map((each: Json) => mapLeaves(each, change))
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [change.text(key), mapLeaves(each, change)]),
  )
}
