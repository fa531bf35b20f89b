import { CliError } from "../cli-error.ts"
import { bashScript, fishScript, zshScript } from "../completion/completion-scripts.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"

const SCRIPTS: Readonly<Record<string, () => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript }

export async function printCompletion({ args, io }: Call): Promise<undefined> {
  const script = Object.hasOwn(SCRIPTS, args[0]!) ? SCRIPTS[args[0]!] : undefined
  if (script === undefined)
    throw new CliError(
      EXIT.usage,
      `There is no completion for ${JSON.stringify(args[0])}.`,
      "Use bash, zsh or fish.",
    )
  io.out(script())
  return undefined
}
