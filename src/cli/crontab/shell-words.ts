/** A word of a shell command line, including its quotes, or an operator such as `&&` or `2>&1`. */
export interface ShellWord {
  readonly text: string
  readonly isOperator: boolean
  readonly start: number
  readonly end: number
}

// Longer operators come first.
const OPERATOR = /\d*>&\d+|\d*>>|\d*>|&>>|&>|&&|&|\|\||\||;|\d*<<?/y
const BLANK = /\s/

/** The words of a line, in one pass. The time is linear in the length of any line. */
export function shellWords(line: string): readonly ShellWord[] {
  const words: ShellWord[] = []
  let index = 0
  while (index < line.length) {
    if (BLANK.test(line[index]!)) {
      index++
      continue
    }
    const start = index
    OPERATOR.lastIndex = start
    const operator = OPERATOR.exec(line)?.[0]
    index = operator === undefined ? endOfWord(line, start) : start + operator.length
    words.push({ text: line.slice(start, index), isOperator: operator !== undefined, start, end: index })
  }
  return words
}

/** True if another command follows this operator. */
export function isControl({ text, isOperator }: ShellWord): boolean {
  return isOperator && !/[<>]/.test(text)
}

/** The text inside the quotes if the whole word is quoted, else the word itself. */
export function unquoted(text: string): string {
  const quote = text[0]
  if (text.length < 2 || (quote !== '"' && quote !== "'")) return text
  return text.indexOf(quote, 1) === text.length - 1 ? text.slice(1, -1) : text
}

const ENDS_WORD = /[\s;&|<>]/

/** An unclosed quote extends to the end of the line. */
function endOfWord(line: string, start: number): number {
  let quote = ""
  let depth = 0
  for (let index = start; index < line.length; index++) {
    const character = line[index]!
    if (character === "\\" && quote !== "'") index++
    else if (quote !== "") quote = character === quote ? "" : quote
    else if (character === "'" || character === '"' || character === "`") quote = character
    // `$(…)` and `$((…))` are part of the word, including blanks.
    else if (character === "(" && (depth > 0 || line[index - 1] === "$")) depth++
    else if (character === ")" && depth > 0) depth--
    else if (depth === 0 && ENDS_WORD.test(character)) return index
  }
  return line.length
}
