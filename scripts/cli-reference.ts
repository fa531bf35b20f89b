/** Writes docs/reference/cli.md from the table of commands: `npx tsx scripts/cli-reference.ts`. A test keeps it so. */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { COMMANDS, SECTIONS } from "../src/cli/commands.ts"
import { EXIT_WORDS } from "../src/cli/exit-codes.ts"
import {
  COMMON_OPTIONS,
  type CommandSpec,
  type OptionSpec,
  RECORD_OPTIONS,
  STORE_OPTIONS,
} from "../src/cli/parsing/command.ts"
import { usageOf } from "../src/cli/parsing/help.ts"

export const REFERENCE = fileURLToPath(new URL("../docs/reference/cli.md", import.meta.url))

export function renderReference(): string {
  const sections = SECTIONS.map(({ title, names }) => {
    const members = COMMANDS.filter(({ name }) => names.includes(name.split(" ")[0]!))
    return `## ${title[0]}${title.slice(1).toLowerCase()}\n\n${members.map(commandText).join("\n")}`
  })
  return [
    "# The command line",
    "Made from the program's own table of commands (`scripts/cli-reference.ts`); a test keeps it so. `s` is short for\n`schedule`, `r` for `run`. Every command has `--help`.",
    CONVENTIONS,
    `## Exit codes\n\n| Code | Meaning |\n| --- | --- |\n${EXIT_WORDS.map(([code, words]) => `| ${code} | ${words} |`).join("\n")}`,
    `## Options that many commands share\n\nCommands that use a store:\n\n${optionTable(STORE_OPTIONS)}\n\nCommands that print records:\n\n${optionTable(RECORD_OPTIONS)}\n\nAll commands:\n\n${optionTable(COMMON_OPTIONS)}`,
    ...sections,
  ].join("\n\n")
}

const CONVENTIONS = `## Conventions

- **Streams**: data goes to standard output; progress, hints, warnings and errors go to standard error.
- **Formats**: on a terminal a table that fits its width, tab-separated values in a pipe, \`--json\` for programs, \`-o csv\` for spreadsheets (a cell that would be a formula there begins with an apostrophe), \`-o name\` for \`xargs\`.
- **Tables** are never wider than the terminal. Columns of little importance are left out, long texts are cut or stand below
  their row. Ids are never cut: one that leaves no room stands on a line of its own. \`-o wide\` has all columns and cuts nothing.
- **Names**: where several keys or ids may be given, \`-\` reads them from standard input, one a line.
- **Times**: \`2026-03-29T02:30:00Z\`; \`2026-03-29 02:30\` in the schedule's zone, which is then said; \`tomorrow 9am\`; \`+2h\`; \`-1d\`.
- **Durations**: \`90s\`, \`15m\`, \`1h30m\`, or ISO 8601.
- **Ids**: a run may be named by the beginning of its id if no other recent run begins so.
- **Questions** are asked only on a terminal. Elsewhere \`--yes\` has to say it, or the command exits with 2.
- **Settings** come from the flag, then the environment (\`BELFRY_STORE\`, \`BELFRY_CONFIG\`), then the configuration, then the default.
- **Colours**: \`--color\`, then \`FORCE_COLOR\`, \`NO_COLOR\` and \`TERM=dumb\`.
- **Control characters** in data are shown as escapes; only \`run logs --raw\` prints them as they are.`

function commandText(spec: CommandSpec): string {
  const args = spec.args ?? []
  const parts = [
    `### belfry ${usageOf(spec)}\n`,
    `${spec.summary}.${spec.details === undefined ? "" : `\n\n${escaped(spec.details)}`}\n`,
    ...(args.length === 0
      ? []
      : [
          `| Argument | Meaning |\n| --- | --- |\n${args.map(({ name, words }) => `| \`${name}\` | ${escaped(words)} |`).join("\n")}\n`,
        ]),
    ...(spec.options === undefined ? [] : [`${optionTable(spec.options)}\n`]),
    `\`\`\`sh\n${spec.examples.map(([command, words]) => `# ${words}\n${command}`).join("\n")}\n\`\`\`\n`,
  ]
  return parts.join("\n")
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map(
    ({ flags, words, choices }) =>
      `| \`${flags}\` | ${escaped(words)}${choices === undefined ? "" : `: ${choices.join(", ")}`} |`,
  )
  return `| Option | Meaning |\n| --- | --- |\n${rows.join("\n")}`
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;")
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(REFERENCE, renderReference())
