import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { printable } from "../printing/printable.ts"
import { Refusal } from "../refusal.ts"

/** More than this many things at once, and the number has to be typed. */
const MANY = 100

/** Asks before something that can't be taken back; without a terminal to ask on, `--yes` has to say it. */
export async function confirm(call: Call, about: string, count: number): Promise<void> {
  const { flags, io } = call
  if (flags.isOn("yes")) return
  const question = printable(about)
  if (!io.canAsk)
    throw new Refusal(EXIT.usage, `${question} There is no terminal to ask on.`, "Add --yes to go ahead.")
  const isMany = count > MANY
  const answer = await io.ask(isMany ? `${question} Type ${count} to go ahead: ` : `${question} [y/N] `)
  const isYes = isMany ? answer.trim() === String(count) : /^y(es)?$/i.test(answer.trim())
  if (!isYes) throw new Refusal(EXIT.usage, "Not confirmed: nothing was changed.")
}
