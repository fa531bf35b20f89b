import { writeFileSync } from "node:fs"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"

/** Writes a new file. Never overwrites an existing file. */
export function writeNewFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx" })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === "EEXIST")
      throw new CliError(
        EXIT.conflict,
        `${path} already exists.`,
        "Choose another name, or move the file.",
        cause,
      )
    throw new CliError(
      EXIT.failed,
      `${path} can't be written: ${String(cause)}`,
      "Check the folder and its permissions.",
      cause,
    )
  }
}
