import type { Lint } from "../../core/cron/lint.ts"
import { BelfryError } from "../../core/errors.ts"
import { ignoredLints, lintLine, lintsOf, lintsOfCron } from "../checks/lints.ts"
import { CliError } from "../cli-error.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import { readScheduleFiles } from "../files/schedule-files.ts"
import { unstoredView } from "../files/unstored-view.ts"
import type { Call } from "../parsing/command.ts"
import { cronFrom, dstFrom } from "../parsing/cron-flags.ts"
import { hint, paintOf, showRecord } from "../printing/output.ts"

interface Finding extends Omit<Lint, "code"> {
  /** The code of a lint or of an error. */
  readonly code: string
  readonly of: string
}

export async function lint(call: Call): Promise<ExitCode | undefined> {
  const { flags, io } = call
  const expression = call.args[0]
  const files = flags.list("file")
  if ((expression === undefined) === (files.length === 0))
    throw new CliError(
      EXIT.usage,
      "Give an expression, or a file with -f.",
      `belfry lint "0 0 31 2 *", or belfry lint -f FILE`,
    )
  const ignored = ignoredLints(call)
  const found = expression === undefined ? await lintFiles(call, files) : lintExpression(call, expression)
  const findings = found.filter(({ code }) => !ignored.has(code))
  if (flags.isOn("json")) await showRecord(call, findings, "json")
  else
    for (const { of, ...finding } of findings)
      io.out(`${lintLine(finding as Lint, paintOf(call), expression === undefined ? of : null)}\n`)
  if (findings.length === 0) hint(call, "No likely mistakes found.")
  const isBad = (severity: Lint["severity"]) =>
    severity === "error" || (flags.isOn("strict") && severity === "warn")
  return findings.some(({ severity }) => isBad(severity)) ? EXIT.invalid : undefined
}

function lintExpression({ flags, io }: Call, expression: string): readonly Finding[] {
  return findingsOf(expression, () =>
    lintsOfCron(cronFrom(expression, flags), io.clock.now(), dstFrom(flags)),
  )
}

async function lintFiles(call: Call, files: readonly string[]): Promise<readonly Finding[]> {
  const now = call.io.clock.now()
  const incomplete: Finding[] = []
  const entries = await readScheduleFiles(call, files, (problems) => {
    for (const problem of problems)
      incomplete.push({ ...problem, code: "BELFRY_SCHEDULE_INVALID", severity: "error" })
  })
  const found = entries.flatMap(({ entry: { id, task, payload, ...options } }) =>
    findingsOf(id, () => lintsOf(unstoredView(id, options, { task, payload, now }), now, options.dst)),
  )
  return [...incomplete, ...found]
}

/** An invalid expression or definition is reported as a finding. */
function findingsOf(of: string, read: () => readonly Lint[]): readonly Finding[] {
  try {
    return read().map((finding) => ({ ...finding, of }))
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    const { code, message } = error
    return [{ of, code, severity: "error", message }]
  }
}
