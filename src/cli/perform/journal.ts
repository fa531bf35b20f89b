import { DATE_MAX } from "../../core/records/valid-records.ts"
import type { Client } from "../../scheduler/client.ts"
import type { JournalEntryView, JournalQuery } from "../../scheduler/journal.ts"
import { collected } from "../../scheduler/listing.ts"
import type { Call } from "../parsing/command.ts"
import { pastTimeOf } from "../parsing/run-filter.ts"
import { type RowFormat, showAll } from "../printing/output.ts"
import { distanceWords, isoOrDash } from "../printing/time-text.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"

/** The changes of schedules, newest first. */
export async function showJournal(call: Call): Promise<undefined> {
  const { flags } = call
  const limit = flags.whole("limit", { max: 100_000 }) ?? 50
  const schedule = call.args[0]
  const parts: { readonly [Name in keyof JournalQuery]: JournalQuery[Name] | undefined } = {
    subject: schedule === undefined ? undefined : "schedule",
    subjectId: schedule,
    by: flags.text("by"),
    since: pastTimeOf(call, "since"),
    until: pastTimeOf(call, "until"),
  }
  const query = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined))
  await withScheduler(call, async ({ scheduler }) => {
    const list = scheduler.journal.list({ ...query, limit: Math.min(limit, 1_000) })
    const entries = await collected(list, limit)
    // The journal of a deleted schedule can be read.
    if (schedule !== undefined && entries.length === 0) await requireKnown(scheduler, schedule)
    await showAll(call, entries, journalRows(call))
  })
  return undefined
}

/** Throws if the schedule doesn't exist and the journal has no entry of it at any time. */
async function requireKnown(scheduler: Client, id: string): Promise<void> {
  const { items } = await scheduler.journal.list({ subject: "schedule", subjectId: id, limit: 1 })
  if (items.length === 0) await scheduleOf(scheduler, id)
}

function journalRows(call: Call): RowFormat<JournalEntryView> {
  const now = call.io.clock.now()
  return {
    columns: [
      {
        header: "WHEN",
        text: ({ at }) => isoOrDash(at),
        brief: ({ at }) => distanceWords(at.getTime(), now),
      },
      { header: "ACTION", text: ({ action }) => action },
      {
        header: "SUBJECT",
        text: ({ subject, subjectId }) => `${subject} ${subjectId}`,
        isId: true,
        paint: () => "bold",
      },
      { header: "BY", text: ({ by }) => by ?? "-", brief: ({ by }) => by ?? "", isLeftOutIfEmpty: true },
      {
        header: "REASON",
        text: ({ reason }) => reason ?? "-",
        brief: ({ reason }) => reason ?? "",
        isLeftOutIfEmpty: true,
      },
      { header: "CHANGED", text: changedWords, below: "cut" },
    ],
    nameOf: ({ id }) => id,
    none: "No changes found. Use --since to search further back.",
  }
}

/** `cron: "0 3 * * *" → "0 4 * * *"`. Empty for a creation or a deletion. */
function changedWords({ before, after }: JournalEntryView): string {
  if (!isObject(before) || !isObject(after)) return ""
  const parts = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return parts
    .map((part) => `${part}: ${valueWords(part, before[part])} → ${valueWords(part, after[part])}`)
    .join(", ")
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function valueWords(part: string, value: unknown): string {
  if (value === undefined || value === null) return "none"
  return JSON.stringify({ [part]: value }, printedValue).slice(`{"${part}":`.length, -1)
}

/** Stored instants are numbers of milliseconds. They are printed as ISO times. */
function printedValue(name: string, value: unknown): unknown {
  const isInstant = typeof value === "number" && IS_INSTANT.test(name) && Math.abs(value) <= DATE_MAX
  return isInstant ? new Date(value).toISOString() : value
}

const IS_INSTANT = /(At|^at|^until|^scheduledFor|^anchor|^coveredUntil)$/
