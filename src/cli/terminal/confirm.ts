import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { printable } from "../printing/printable.ts"

/** For more records than this, the user must type the number. */
const MANY = 100

/** Asks before a change that can't be undone. Without a terminal, `--yes` is required. */
export async function confirm(call: Call, about: string, count: number): Promise<void> {
  const { flags, io } = call
  if (flags.isOn("yes")) return
  const question = printable(about)
  if (!io.canAsk)
    throw new CliError(EXIT.usage, `${question} There is no terminal to ask on.`, "Add --yes to continue.")
  const isMany = count > MANY
  const answer = await io.ask(isMany ? `${question} Type ${count} to continue: ` : `${question} [y/N] `)
  const isYes = isMany ? answer.trim() === String(count) : /^y(es)?$/i.test(answer.trim())
  if (!isYes) throw new CliError(EXIT.usage, "Not confirmed: nothing was changed.")
}
