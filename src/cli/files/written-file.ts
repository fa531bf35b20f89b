import { writeFileSync } from "node:fs"
import { EXIT } from "../exit-codes.ts"
import { Refusal } from "../refusal.ts"

/** Writes a file that isn't there yet; what is there is never written over. */
export function writeNewFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx" })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === "EEXIST")
      throw new Refusal(
        EXIT.conflict,
        `${path} is there already.`,
        "Choose another name, or move it away.",
        cause,
      )
    throw new Refusal(
      EXIT.failed,
      `${path} can't be written: ${String(cause)}`,
      "Check the folder and its rights.",
      cause,
    )
  }
}
