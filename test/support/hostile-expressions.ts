import { EXPRESSION_MAX, parseCron } from "../../src/core/cron/parse.ts"
import { BelfryError } from "../../src/core/errors.ts"

/** Expressions that would be slow to read, or slow to refuse, if anything were tried again and again. */
export const HOSTILE: readonly (readonly [title: string, expression: string])[] = [
  ["10 MB of stars", Buffer.alloc(10_000_000, "* ").toString()],
  ["10 MB of digits", Buffer.alloc(10_000_000, "9").toString()],
  ["10 MB of blanks", Buffer.alloc(10_000_000, " ").toString()],
  ["10 MB of @", Buffer.alloc(10_000_000, "@").toString()],
  ["as many commas as are read", `${",".repeat(EXPRESSION_MAX - 8)} * * * *`],
  ["as many stars as are read", `${"*,".repeat(123)}* * * * *`],
  ["as many ranges as are read", `${"0-59,".repeat(49)}* * * * *`],
  ["as many last days as are read", `0 0 ${"L,".repeat(121)}L * +1`],
  ["as many special weekdays as are read", `0 0 31 2 +${"1#1,".repeat(60)}1`],
  ["as many H as are read", `${"H,".repeat(123)}H * * * *`],
  ["as many parentheses as are read", `H${"(".repeat(200)} * * * *`],
  ["as many dashes as are read", `${"-".repeat(200)} * * * *`],
  ["as many slashes as are read", `${"/".repeat(200)} * * * *`],
  ["as many digits as are read", `${"0".repeat(247)} * * * *`],
  ["as many NULs as are read", "\u0000".repeat(EXPRESSION_MAX)],
  ["as many blanks as are read", " ".repeat(EXPRESSION_MAX)],
  ["a long interval", `@every ${"1s".repeat(100)}`],
  ["an interval of blanks", `@every${" ".repeat(240)}!`],
]

/** The refusal's text, or nothing if the expression was accepted. */
export function messageOf(expression: string): string {
  try {
    parseCron(expression)
    return ""
  } catch (error) {
    if (error instanceof BelfryError) return error.message
    throw error
  }
}
