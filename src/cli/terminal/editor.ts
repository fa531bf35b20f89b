import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EXIT } from "../exit-codes.ts"
import { Refusal } from "../refusal.ts"

/** Gives a text to VISUAL, EDITOR or vi, in a folder that only this user can read. */
export async function editedText(
  text: string,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-edit-"))
  const path = join(folder, name)
  const editor = env["VISUAL"] || env["EDITOR"] || "vi"
  try {
    writeFileSync(path, text, { mode: 0o600 })
    const code = await run(editor, path)
    if (code !== 0)
      throw new Refusal(
        EXIT.failed,
        `The editor ${JSON.stringify(editor)} ended with ${code}. Nothing was changed.`,
        "Name another: EDITOR=nano belfry schedule edit …",
      )
    return readFileSync(path, "utf8")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** By a shell, since people write `code --wait`; the path is an argument of it, never a part of its line. */
function run(editor: string, path: string): Promise<number | string> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", `${editor} "$0"`, path], { stdio: "inherit" })
    child.on("error", reject)
    child.on("close", (code, signal) => resolve(code ?? signal ?? "nothing"))
  })
}
