import { BelfryError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { Redaction, type Secret } from "./redaction.ts"

/** `{{env.NAME}}`, where a payload refers to what it must not hold. */
const REFERENCE = /\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

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
  /** By value: what was filled in. */
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

  /** Hides the host, too, if a variable says which: errors name it alone, without the rest of the value. */
  hideHost(template: string, host: string): void {
    const [name] = referencesIn(originOf(template))
    if (name !== undefined) this.#hide(host, name)
  }

  /** Up to the path a value is taken as it is, so that it may be a whole origin; from there on it is percent-encoded. */
  fillUrl(template: string): string {
    const origin = originOf(template)
    return this.fill(origin) + this.fill(template.slice(origin.length), encodeURIComponent)
  }

  /** Takes the values that were filled in out of a text: a server may send back what it was sent. */
  get redaction(): Redaction {
    this.#redaction ??= new Redaction(this.#used.values())
    return this.#redaction
  }

  #hide(value: string, name: string): void {
    this.#used.set(value, { value, shown: `{{env.${name}}}` })
    this.#redaction = null
  }
}

/** The values in a URL with `user:password@` that are secret by themselves: a server or an error may name only them. */
function credentialsIn(value: string): readonly string[] {
  if (!URL.canParse(value)) return []
  const { username, password } = new URL(value)
  const secret = password === "" ? username : password
  try {
    return [secret, decodeURIComponent(secret)]
  } catch (error) {
    // A lone "%" stands for itself.
    if (error instanceof URIError) return [secret]
    throw error
  }
}

/** Every text and number in the value, keys included. */
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
