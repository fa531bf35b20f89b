import { extname } from "node:path"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import { codeText } from "../printing/code-text.ts"
import { yamlText } from "../printing/yaml-text.ts"
import type { ConvertedJob } from "./converted-job.ts"

/** The jobs as a configuration of the stand-alone program, in the format of the file name's extension. */
export async function configText(path: string, jobs: readonly ConvertedJob[]): Promise<string> {
  const config = {
    commands: Object.fromEntries(jobs.map(({ entry, command }) => [entry!.id, command])),
    schedules: jobs.map(({ entry }) => entry),
  }
  switch (extname(path)) {
    case ".json":
      return `${JSON.stringify(config, null, 2)}\n`
    case ".ts":
    case ".mjs":
    case ".js":
      return codeText(config)
    case ".yaml":
    case ".yml":
      return yamlText(config)
    default:
      throw new CliError(
        EXIT.usage,
        `--out ${JSON.stringify(path)} has an unknown extension.`,
        "Use .json, .yaml, .ts, .mjs or .js.",
      )
  }
}

/** The crontab with the given lines commented out. Printed, never installed. */
export function commentedOut(text: string, lines: readonly number[]): string {
  const commented = new Set(lines)
  return text
    .split("\n")
    .map((line, index) => (commented.has(index + 1) ? `# belfry: ${line}` : line))
    .join("\n")
}
