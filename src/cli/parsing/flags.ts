import { BelfryError } from "../../core/errors.ts"
import { type Duration, durationMsOf } from "../../core/time/duration.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"

/** The flags of one call, with a reader per type. */
export class Flags {
  readonly #values: Readonly<Record<string, unknown>>

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values
  }

  /** A copy with other values for some flags. */
  with(values: Readonly<Record<string, unknown>>): Flags {
    return new Flags({ ...this.#values, ...values })
  }

  isOn(name: string): boolean {
    return this.#values[name] === true
  }

  /** True if the `--no-…` flag was given. */
  isOff(name: string): boolean {
    return this.#values[name] === false
  }

  text(name: string): string | undefined {
    const value = this.#values[name]
    return typeof value === "string" ? value : undefined
  }

  /** Throws if the flag is missing. */
  required(name: string, remedy: string): string {
    const text = this.text(name)
    if (text !== undefined && text !== "") return text
    throw new CliError(EXIT.usage, `${flagOf(name)} is missing.`, remedy)
  }

  list(name: string): readonly string[] {
    const value = this.#values[name]
    return Array.isArray(value) ? value.map(String) : []
  }

  /** An integer in a range. */
  whole(name: string, { min = 1, max = 1_000_000 } = {}): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new CliError(
      EXIT.usage,
      `${flagOf(name)} is ${JSON.stringify(text)}.`,
      `Give an integer from ${min} to ${max}.`,
    )
  }

  durationMs(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const ms = durationMsOf(text)
    if (ms !== null) return ms
    throw new BelfryError(
      "BELFRY_DURATION_INVALID",
      `${flagOf(name)} ${JSON.stringify(text)} is not a duration.`,
      {
        details: { option: flagOf(name) },
        remedy: WRITE_A_DURATION,
      },
    )
  }

  duration(name: string): Duration | undefined {
    return this.durationMs(name)
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.text(name)
    if (text === undefined || choices.includes(text as Choice)) return text as Choice | undefined
    throw new CliError(
      EXIT.usage,
      `${flagOf(name)} ${JSON.stringify(text)} is unknown.`,
      `Use one of: ${choices.join(", ")}.`,
    )
  }
}

/** A number without a unit is refused, because `--timeout 30` could mean seconds or milliseconds. */
const WRITE_A_DURATION = "Write a number with its unit, such as 500ms, 90s, 15m or 1h30m."

/** `maxRuns` becomes `--max-runs`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
