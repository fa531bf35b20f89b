import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"

/** Opens a text in VISUAL, EDITOR or vi, in a folder that only this user can read. */
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
      throw new CliError(
        EXIT.failed,
        `The editor ${JSON.stringify(editor)} exited with ${code}. Nothing was changed.`,
        "Use another editor: EDITOR=nano belfry schedule edit …",
      )
    return readFileSync(path, "utf8")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Runs the editor in a shell, because EDITOR may have arguments (`code --wait`). The path is passed as an argument of the
 * shell.
 */
function run(editor: string, path: string): Promise<number | string> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", `${editor} "$0"`, path], { stdio: "inherit" })
    child.on("error", reject)
    child.on("close", (code, signal) => resolve(code ?? signal ?? "no exit code"))
  })
}
