/**
 * Generates docs/reference/cli.md from the table of commands: `npx tsx scripts/cli-reference.ts`. A test checks that it is
 * current.
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { COMMANDS, SECTIONS } from "../src/cli/commands.ts"
import { EXIT_DESCRIPTIONS } from "../src/cli/exit-codes.ts"
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
    "Generated from the table of commands by `scripts/cli-reference.ts`. `s` is short for `schedule`, `r` for `run`. Every command\nhas `--help`.",
    CONVENTIONS,
    `## Exit codes\n\n| Code | Meaning |\n| --- | --- |\n${EXIT_DESCRIPTIONS.map(([code, description]) => `| ${code} | ${description} |`).join("\n")}`,
    `## Shared options\n\nCommands that use a store:\n\n${optionTable(STORE_OPTIONS)}\n\nCommands that print records:\n\n${optionTable(RECORD_OPTIONS)}\n\nAll commands:\n\n${optionTable(COMMON_OPTIONS)}`,
    ...sections,
  ].join("\n\n")
}

const CONVENTIONS = `## Conventions

- **Streams**: data goes to standard output; progress, hints, warnings and errors go to standard error.
- **Formats**: on a terminal a table that fits its width, tab-separated values in a pipe, \`--json\` for programs, \`-o csv\` for spreadsheets (a
  cell that would be a formula gets an apostrophe before it), \`-o name\` for \`xargs\`.
- **Tables** are never wider than the terminal. Less important columns are left out, and long texts are cut or printed below their
  row. Ids are never cut: an id that leaves no room gets a line of its own. \`-o wide\` prints all columns and cuts nothing.
- **Names**: commands that take several ids read them from standard input with \`-\`, one per line.
- **Times**: \`2026-03-29T02:30:00Z\`; \`2026-03-29 02:30\` in the schedule's time zone, which is then printed; \`tomorrow 9am\`; \`+2h\`; \`-1d\`.
- **Durations**: \`90s\`, \`15m\`, \`1h30m\`, or ISO 8601.
- **Ids**: the beginning of a run id is enough if no other run id begins with it.
- **Questions** are asked only on a terminal. Without a terminal, \`--yes\` is required, or the command exits with 2.
- **Settings** come from the flag, then the environment (\`BELFRY_STORE\`, \`BELFRY_CONFIG\`), then the configuration, then the default.
- **Colours**: \`--color\`, then \`FORCE_COLOR\`, \`NO_COLOR\` and \`TERM=dumb\`.
- **Control characters** in data are printed as escapes. Only \`run logs --raw\` and \`run watch --raw\` print them unchanged.`

function commandText(spec: CommandSpec): string {
  const args = spec.args ?? []
  const parts = [
    `### belfry ${usageOf(spec)}\n`,
    `${spec.summary}.${spec.details === undefined ? "" : `\n\n${escaped(spec.details)}`}\n`,
    ...(args.length === 0
      ? []
      : [
          `| Argument | Meaning |\n| --- | --- |\n${args.map(({ name, description }) => `| \`${name}\` | ${escaped(description)} |`).join("\n")}\n`,
        ]),
    ...(spec.options === undefined ? [] : [`${optionTable(spec.options)}\n`]),
    `\`\`\`sh\n${spec.examples.map(([command, description]) => `# ${description}\n${command}`).join("\n")}\n\`\`\`\n`,
  ]
  return parts.join("\n")
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map(
    ({ flags, description, choices }) =>
      `| \`${flags}\` | ${escaped(description)}${choices === undefined ? "" : `: ${choices.join(", ")}`} |`,
  )
  return `| Option | Meaning |\n| --- | --- |\n${rows.join("\n")}`
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;")
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(REFERENCE, renderReference())
