import { writeFileSync } from "node:fs"
import { EXIT } from "../exit-codes.ts"
import { Refusal } from "../refusal.ts"

/** Writes a new file. Never overwrites an existing file. */
export function writeNewFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx" })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === "EEXIST")
      throw new Refusal(
        EXIT.conflict,
        `${path} already exists.`,
        "Choose another name, or move the file.",
        cause,
      )
    throw new Refusal(
      EXIT.failed,
      `${path} can't be written: ${String(cause)}`,
      "Check the folder and its permissions.",
      cause,
    )
  }
}
