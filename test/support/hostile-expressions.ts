import { EXPRESSION_MAX, parseCron } from "../../src/core/cron/parse.ts"
import { BelfryError } from "../../src/core/errors.ts"

/** Expressions that a parser with backtracking would be slow to read or to refuse. */
export const HOSTILE: readonly (readonly [title: string, expression: string])[] = [
  ["10 MB of stars", Buffer.alloc(10_000_000, "* ").toString()],
  ["10 MB of digits", Buffer.alloc(10_000_000, "9").toString()],
  ["10 MB of blanks", Buffer.alloc(10_000_000, " ").toString()],
  ["10 MB of @", Buffer.alloc(10_000_000, "@").toString()],
  ["as many commas as allowed", `${",".repeat(EXPRESSION_MAX - 8)} * * * *`],
  ["as many stars as allowed", `${"*,".repeat(123)}* * * * *`],
  ["as many ranges as allowed", `${"0-59,".repeat(49)}* * * * *`],
  ["as many last days as allowed", `0 0 ${"L,".repeat(121)}L * +1`],
  ["as many special weekdays as allowed", `0 0 31 2 +${"1#1,".repeat(60)}1`],
  ["as many H as allowed", `${"H,".repeat(123)}H * * * *`],
  ["as many parentheses as allowed", `H${"(".repeat(200)} * * * *`],
  ["as many dashes as allowed", `${"-".repeat(200)} * * * *`],
  ["as many slashes as allowed", `${"/".repeat(200)} * * * *`],
  ["as many digits as allowed", `${"0".repeat(247)} * * * *`],
  ["as many NULs as allowed", "\u0000".repeat(EXPRESSION_MAX)],
  ["as many blanks as allowed", " ".repeat(EXPRESSION_MAX)],
  ["a long interval", `@every ${"1s".repeat(100)}`],
  ["an interval of blanks", `@every${" ".repeat(240)}!`],
]

/** The error message, or an empty text if the expression was accepted. */
export function messageOf(expression: string): string {
  try {
    parseCron(expression)
    return ""
  } catch (error) {
    if (error instanceof BelfryError) return error.message
    throw error
  }
}
