import { UNSAFE } from "../../core/values/unsafe-text.ts"

export { printableJson } from "../../core/values/unsafe-text.ts"

/** Escapes stored text for a terminal, so that it can't move the cursor, change colours or hide other text. */

/** For one line: control characters are replaced by their escapes, such as `\n` or `\x1b`. */
export function printable(text: string): string {
  return text.replace(UNSAFE, escapeOf)
}

/** True if the text has control characters, including line breaks. */
export function hasUnsafe(text: string): boolean {
  return text.search(UNSAFE) >= 0
}

/** An id in a command to copy, quoted so that a shell reads it as one word. */
export function commandWord(id: string): string {
  return /^[\w@.:+/=-]+$/.test(id) ? id : `'${printable(id).replaceAll("'", "'\\''")}'`
}

/** For several lines: line breaks and tabs are kept. */
export function printableLines(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === "\n" || character === "\t" ? character : escapeOf(character),
  )
}

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

function escapeOf(character: string): string {
  const code = character.charCodeAt(0)
  return SHORT[character] ?? (code < 256 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`)
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0")
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const NARROW_MARK = /\p{Mark}/u

/** The number of terminal columns of a text. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += NARROW_MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

/** Cuts a text to a number of columns, with an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ""
  let width = 0
  for (const character of text) {
    width += widthOf(character)
    if (width > columns - 1) break
    kept += character
  }
  return `${kept}…`
}

/** Breaks a text into lines at any character. For texts that must not be cut, such as ids. */
export function brokenTo(text: string, columns: number): readonly string[] {
  const lines = [""]
  let width = 0
  for (const character of text) {
    const own = widthOf(character)
    if (width + own > columns && width > 0) {
      lines.push("")
      width = 0
    }
    lines[lines.length - 1] += character
    width += own
  }
  return lines
}

/** Breaks a text into lines, between words if possible. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1]
    const joined = last === undefined ? word : `${last} ${word}`
    if (widthOf(joined) <= columns) lines.splice(Math.max(0, lines.length - 1), 1, joined)
    else lines.push(...brokenTo(word, columns))
  }
  return lines
}
