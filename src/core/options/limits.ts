import type { OptionType } from "./checked.ts"
import { integer, objectWith, text, textLike } from "./option-types.ts"

/**
 * Names, keys and counts that several functions accept. The limits are the same for every store: a PostgreSQL index row holds
 * 2,704 bytes and a character takes up to 4 of them, counts fit into 32 bits, and a claim with a limit reads only a short list.
 */

export const IS_SCHEDULE_ID = /^[A-Za-z0-9_-]{1,200}$/

export const SCHEDULE_ID: OptionType<string> = textLike(
  IS_SCHEDULE_ID,
  '1 to 200 letters, digits, "_" and "-"',
)

export const TASK_NAME: OptionType<string> = textLike(
  /^[\w.:/-]{1,200}$/,
  '1 to 200 letters, digits, "_", "-", ".", ":" and "/"',
)

/** A task, or its name. */
export function taskOr(name: OptionType<string>): OptionType<string> {
  const allowed = `a task, or its name: ${name.allowed}`
  const task = objectWith<{ name: unknown; run: unknown }>(["name", "run"], allowed)
  return {
    allowed,
    read: (value, at) => name.read(typeof value === "object" ? task.read(value, at).name : value, at),
  }
}

export const RUN_ID: OptionType<string> = textLike(
  /^[\w.:@~+/-]{1,300}$/,
  '1 to 300 letters, digits, "_", "-", ".", ":", "@", "~", "+" and "/"',
)

/** For lookups. Wider than the other types, so that ids written by SQL without our checks are found too. */
export const LOOKUP: OptionType<string> = text({ min: 1, max: 300 })

export const KEY_MAX = 255

/** Keys chosen by users: `key`, `concurrency.key`. */
export const KEY: OptionType<string> = text({ min: 1, max: KEY_MAX })

export const OWNER: OptionType<string> = text({ min: 1, max: 200 })
export const TAG: OptionType<string> = text({ min: 1, max: 100 })
export const TAGS_MAX = 50
export const DESCRIPTION: OptionType<string> = text({ min: 0, max: 4_000 })

/** How many runs of a key or of a worker may run at once. PostgreSQL numbers the slots of a key and searches for a free one. */
export const CONCURRENCY: OptionType<number> = integer(1, 10_000)

/** Counting stops here: larger counts cost more, and nobody needs the exact number. */
export const COUNT_MAX = 10_000

/** The size of a page of a list. */
export const PAGE: OptionType<number> = integer(1, 1_000)

/** Deploys are often numbered by seconds or milliseconds since 1970. */
export const RELEASE: OptionType<number> = integer(0, Number.MAX_SAFE_INTEGER)
