import ts from "typescript"

/** The doc comment directly before a declaration or member, in one line. Null: it has none. */
export function docCommentOf(node: ts.Node): string | null {
  const text = node.getSourceFile().text
  const last = ts.getLeadingCommentRanges(text, node.getFullStart())?.at(-1)
  // A comment with an empty line after it is about the whole file.
  if (last === undefined || /\n\s*\n/.test(text.slice(last.end, node.getStart()))) return null
  const comment = text.slice(last.pos, last.end)
  if (!comment.startsWith("/**")) return null
  return comment
    .slice(3, -2)
    .replaceAll(/^\s*\*/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim()
}

export function firstSentenceOf(text: string): string {
  return text.match(/^.*?[.!?](?= |$)/)?.[0] ?? text
}

/** Between the marks of a doc comment: one line if it fits, else several. */
export function docComment(text: string, indent: string, columns: number): string {
  const line = `${indent}/** ${text} */`
  if (line.length <= columns) return `${line}\n`
  return `${indent}/**\n${wrapped(text, `${indent} * `, columns)}${indent} */\n`
}

function wrapped(text: string, prefix: string, columns: number): string {
  const lines: string[] = []
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`
    if (lines.length > 0 && longer.length <= columns) lines[lines.length - 1] = longer
    else lines.push(`${prefix}${word}`)
  }
  return `${lines.join("\n")}\n`
}
