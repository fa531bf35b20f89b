import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { promisify } from "node:util"
import type { CreateOptions } from "../../scheduler/schedules/steering-options.ts"
import { CliError } from "../cli-error.ts"
import { commentedOut, configText } from "../crontab/config-text.ts"
import { type ConvertedJob, convertJobs } from "../crontab/converted-job.ts"
import { looksLikeSystem, parseCrontab, type UnreadLine } from "../crontab/crontab.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import { writeNewFile } from "../files/new-file.ts"
import type { Call } from "../parsing/command.ts"
import { hint, type RowFormat, showAll, warn } from "../printing/output.ts"
import { progressOf } from "../printing/progress.ts"
import { withScheduler } from "../session/session.ts"

/** Shows the conversion of a crontab. Writes a configuration with `--out`, and creates the schedules with `--apply`. */
export async function importCrontab(call: Call): Promise<ExitCode | undefined> {
  const { flags, io } = call
  const text = await readCrontab(call)
  const hasUsers = flags.isOn("system") || (!flags.isOff("system") && looksLikeSystem(text))
  const { jobs, unread } = parseCrontab(text, { hasUsers })
  const timezone = flags.text("timezone") ?? io.zone
  const prefix = flags.text("prefix") ?? ""
  const converted = convertJobs(jobs, { timezone, prefix, now: io.clock.now(), homeOf: io.homeOf })
  const ready = converted.filter(({ entry }) => entry !== null)
  if (flags.isOn("commentOut")) {
    io.out(
      commentedOut(
        text,
        ready.map(({ line }) => line),
      ),
    )
    return undefined
  }
  await showAll(call, converted, jobRows())
  warnOfUnread(call, unread)
  hint(call, `${ready.length} ready · ${converted.length - ready.length + unread.length} skipped.`)
  const out = flags.text("out")
  const isDry = flags.isOn("dryRun")
  if (out !== undefined && !isDry) await writeOut(call, out, ready)
  if (flags.isOn("apply") && !isDry) await apply(call, ready)
  if ((out === undefined && !flags.isOn("apply")) || isDry)
    hint(
      call,
      "Nothing was changed. Write: --out belfry.config.json (or .yaml, .mjs)   Apply: --apply [--paused]",
    )
  return ready.length === 0 && jobs.length > 0 ? EXIT.invalid : undefined
}

/** Reads a file, standard input, or the output of `crontab -l`. Never changes the crontab. */
async function readCrontab({ args, io }: Call): Promise<string> {
  const [file] = args
  if (file === "-") return io.readInput()
  if (file !== undefined) {
    try {
      return readFileSync(isAbsolute(file) ? file : join(io.cwd, file), "utf8")
    } catch (cause) {
      throw new CliError(
        EXIT.notFound,
        `The crontab ${file} can't be read.`,
        "Check the path and its permissions.",
        cause,
      )
    }
  }
  try {
    return (await promisify(execFile)("crontab", ["-l"])).stdout
  } catch (cause) {
    throw new CliError(
      EXIT.notFound,
      "You have no crontab, or the program crontab is not installed.",
      "Give a file, or - for standard input.",
      cause,
    )
  }
}

function jobRows(): RowFormat<ConvertedJob> {
  return {
    columns: [
      { header: "LINE", text: ({ line }) => String(line), isRight: true },
      {
        header: "ID",
        isId: true,
        text: ({ entry }) => entry?.id ?? "—",
        paint: ({ entry }) => (entry === null ? "dim" : "bold"),
      },
      { header: "CRON", text: ({ cron }) => cron },
      { header: "ZONE", text: ({ timezone, entry }) => (entry === null ? "—" : timezone), dropOrder: 2 },
      { header: "TASK", text: ({ entry }) => entry?.task ?? "skipped", dropOrder: 1 },
      { header: "NOTES", text: ({ notes }) => notes.join("; "), below: "whole" },
    ],
    nameOf: ({ entry, line }) => entry?.id ?? `line ${line}`,
    record: (job) => job,
    none: "The crontab has no jobs.",
  }
}

function warnOfUnread(call: Call, unread: readonly UnreadLine[]): void {
  for (const { line, text, why } of unread)
    warn(call, `line ${line} was skipped: ${why} (${JSON.stringify(text.slice(0, 60))})`)
}

async function writeOut(call: Call, out: string, ready: readonly ConvertedJob[]): Promise<void> {
  const path = isAbsolute(out) ? out : join(call.io.cwd, out)
  writeNewFile(path, await configText(path, ready))
  hint(
    call,
    `Wrote ${path}: ${ready.length} commands and schedules. Review it, then: belfry start --config ${out}`,
  )
}

/** Existing schedules are not changed. */
async function apply(call: Call, ready: readonly ConvertedJob[]): Promise<void> {
  const isPaused = call.flags.isOn("paused")
  await withScheduler(
    call,
    async ({ scheduler, loaded }) => {
      const progress = progressOf(call, "import")
      let created = 0
      for (const [index, { entry }] of ready.entries()) {
        const { id, ...options } = entry!
        if ((await scheduler.schedules.get(id)) !== null)
          warn(call, `${id} already exists and is not changed`)
        else {
          const create = options as CreateOptions<unknown>
          const paused = isPaused && { reason: "Created paused", by: call.io.user }
          await scheduler.schedules.create(
            id,
            { ...create, paused },
            { by: call.io.user, reason: "Imported from a crontab" },
          )
          created++
        }
        progress(index + 1, ready.length)
      }
      hint(
        call,
        `Created ${created} schedules${isPaused ? ", paused (belfry schedule resume -l crontab)" : ""}.`,
      )
      if (loaded?.config.commands === undefined)
        hint(
          call,
          "A worker needs the commands in its configuration to run them. Write one: --out belfry.config.json",
        )
    },
    { mayCreate: true },
  )
}
