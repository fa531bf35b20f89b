import type { Io } from "../terminal/io.ts"

export const COLOUR_CHOICES = ["auto", "always", "never"] as const

/** Applies `--color` to the environment. The flag takes precedence over NO_COLOR, FORCE_COLOR and TERM. */
export function withColourChoice(io: Io, argv: readonly string[]): Io {
  const choice = choiceIn(argv)
  if (choice === "always") return { ...io, env: { ...io.env, FORCE_COLOR: "1", NO_COLOR: undefined } }
  if (choice === "never") return { ...io, env: { ...io.env, FORCE_COLOR: undefined, NO_COLOR: "1" } }
  return io
}

/** Read before the arguments are parsed, so that parse errors have the right colours. */
function choiceIn(argv: readonly string[]): string | undefined {
  const at = argv.findLastIndex((word) => word === "--color" || word.startsWith("--color="))
  if (at < 0) return undefined
  return argv[at] === "--color" ? argv[at + 1] : argv[at]!.slice("--color=".length)
}
