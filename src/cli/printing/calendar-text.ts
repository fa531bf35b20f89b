import type { NextRow } from "./occurrence-rows.ts"
import { printable } from "./printable.ts"

/** Occurrences as an iCalendar file (RFC 5545). Each is an event without a duration. */
export function calendarText(
  rows: readonly NextRow[],
  about: { readonly name: string; readonly words: string; readonly now: number },
): string {
  const { name, words, now } = about
  const events = rows.flatMap(({ at, note }) => [
    "BEGIN:VEVENT",
    `UID:${textOf(name).replaceAll(/\s/g, "_")}@${basic(at)}.belfry`,
    `DTSTAMP:${basic(new Date(now))}`,
    `DTSTART:${basic(at)}`,
    `SUMMARY:${textOf(name)}`,
    `DESCRIPTION:${textOf(note === "" ? words : `${words}. ${note}`)}`,
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ])
  const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//belfry//next//EN", ...events, "END:VCALENDAR"]
  return lines.map((line) => `${folded(line)}\r\n`).join("")
}

/** `20260329T010000Z`. */
function basic(at: Date): string {
  return at.toISOString().replaceAll(/[-:]|\.\d+/g, "")
}

function textOf(text: string): string {
  return printable(text).replaceAll(/[\\;,]/g, (character) => `\\${character}`)
}

/** Folds lines at 75 bytes. A line that begins with a blank continues the previous line. */
function folded(line: string): string {
  const parts = [""]
  let bytes = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (bytes + size > 75) {
      parts.push(" ")
      bytes = 1
    }
    parts[parts.length - 1] += character
    bytes += size
  }
  return parts.join("\r\n")
}
