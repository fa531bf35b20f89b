import { COMMANDS, GROUPS } from "../commands.ts"
import { type CommandSpec, optionsOf } from "../parsing/command.ts"
import {
  ASKING,
  argumentWords,
  firstWords,
  flagsOf,
  longOf,
  OFFERED_ID,
  secondWords,
  shortOf,
  spellings,
  valueWords,
  type Words,
} from "./completion-words.ts"

/** Scripts for shells, made from the table of commands. Ids are asked of the program itself, and kept for 30 seconds. */

export function bashScript(): string {
  return `# bash completion for belfry; made by: belfry completion bash
${ASK}
_belfry() {
  # By blanks alone: bash itself would also split at the @ and : of a run's id.
  local line="\${COMP_LINE:0:COMP_POINT}" typed cur="" cword reply=""
  read -ra typed <<< "$line"
  case "$line" in *[[:blank:]]) ;; *) cur="\${typed[\${#typed[@]}-1]}" ;; esac
  cword=\${#typed[@]}
  [ -n "$cur" ] && cword=$((cword - 1))
  local first="\${typed[1]}" second="\${typed[2]}" prev="\${typed[cword-1]}"
${body()}
  # Not by compgen -W, which would run what stands in $(…) of a word.
  local word IFS=$' \\t\\n'
  COMPREPLY=()
  for word in $reply; do case "$word" in "$cur"*) COMPREPLY+=("$word") ;; esac; done
  # Bash puts the answer in place of what follows the last of its own word breaks.
  local kept="\${cur%"\${cur##*[@:=]}"}" index
  for index in "\${!COMPREPLY[@]}"; do COMPREPLY[index]="\${COMPREPLY[index]#"$kept"}"; done
}
complete -o default -F _belfry belfry
`
}

export function zshScript(): string {
  return `#compdef belfry
# zsh completion for belfry; made by: belfry completion zsh
${ASK}
_belfry() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT-1]}" first="\${words[2]}" second="\${words[3]}" reply=""
  local cword=$((CURRENT - 1))
${body()}
  if [ "$reply" = "" ]; then _files; else compadd -- \${=reply}; fi
}
if [ "$funcstack[1]" = "_belfry" ]; then _belfry "$@"; else compdef _belfry belfry; fi
`
}

/** What bash and zsh both understand: adds to `reply`, from memory if it was asked a moment ago in the same folder. */
const ASK = `_belfry_ask() {
  local now=\${EPOCHSECONDS:-$SECONDS}
  if [ "$* $PWD" != "$_belfry_asked" ] || [ $((now - _belfry_at)) -gt 30 ]; then
    _belfry_answer="$("$@" 2>/dev/null | LC_ALL=C grep -E '${OFFERED_ID}' | tr '\\n' ' ')"
    _belfry_asked="$* $PWD"
    _belfry_at=$now
  fi
  reply="$reply $_belfry_answer"
}`

/** From `cword`, `first`, `second`, `prev` and `cur` to `reply`. */
function body(): string {
  const groups = Object.keys(GROUPS).map((group) => {
    const names = [group, ...GROUPS[group]!.aliases].join("|")
    return `      ${names}) reply="${secondWords(group).join(" ")}" ;;`
  })
  return [
    `  if [ "$cword" -eq 1 ]; then reply="${firstWords().join(" ")}"; else`,
    ...['    [ "$cword" -eq 2 ] && case "$first" in', ...groups, "    esac"],
    ...['    if [ "$reply" = "" ]; then case "$first $second" in'],
    ...COMMANDS.map(commandCase),
    "    esac; fi",
    "  fi",
  ].join("\n")
}

function commandCase(spec: CommandSpec): string {
  const patterns = spellings(spec)
    .map((spelling) => (spelling.includes(" ") ? `"${spelling}"` : `"${spelling} "*`))
    .join("|")
  const values = optionsOf(spec).flatMap((option) => {
    const words = valueWords(option)
    if (words === null) return []
    const names = [shortOf(option.flags), longOf(option.flags)].filter((name) => name !== undefined)
    return [`        ${names.join("|")}) ${setReply(words)} ;;`]
  })
  return [
    `      ${patterns}) case "$prev" in`,
    ...values,
    `        *) case "$cur" in -*) reply="${flagsOf(spec).join(" ")}" ;; *) ${setReply(argumentWords(spec))} ;; esac ;;`,
    "      esac ;;",
  ].join("\n")
}

/** No reply means files. */
function setReply(words: Words): string {
  if (words === "files") return 'reply=""'
  return typeof words === "string" ? `_belfry_ask ${ASKING[words]}` : `reply="${words.join(" ")}"`
}

/** Whether the first word, and the second, is one of those: `run` is a group by itself, and a command of `task`. */
const FISH_FUNCTION: readonly string[] = [
  "function __belfry_is",
  "  set -l words (string match -v -- '-*' (commandline -opc))",
  '  contains -- "$words[2]" (string split " " -- $argv[1]); or return 1',
  '  test (count $argv) -eq 1; or contains -- "$words[3]" (string split " " -- $argv[2])',
  "end",
]

export function fishScript(): string {
  const lines = [
    "# fish completion for belfry; made by: belfry completion fish",
    ...FISH_FUNCTION,
    "complete -c belfry -f",
  ]
  for (const word of firstWords()) {
    const summary = GROUPS[word]?.summary ?? COMMANDS.find(({ name }) => name === word)?.summary ?? ""
    lines.push(`complete -c belfry -n __fish_use_subcommand -a ${word} -d ${quoted(summary)}`)
  }
  for (const spec of COMMANDS) lines.push(...fishCommand(spec))
  return `${lines.join("\n")}\n`
}

function fishCommand(spec: CommandSpec): readonly string[] {
  const [first, second] = spec.name.split(" ") as [string, string | undefined]
  const names = [first, ...(GROUPS[first]?.aliases ?? [])].join(" ")
  const inGroup = `__belfry_is "${names}"`
  const isHere = quoted(second === undefined ? inGroup : `${inGroup} ${second}`)
  const isOpen = quoted(`${inGroup}; and not ${inGroup} "${secondWords(first).join(" ")}"`)
  const options = optionsOf(spec).map((option) => {
    const { flags, words } = option
    const short = shortOf(flags)
    const value = valueWords(option)
    const takes = value === null ? "" : value === "files" ? " -rF" : ` -x${fishWords(value)}`
    return `complete -c belfry -n ${isHere}${short === undefined ? "" : ` -s ${short.slice(1)}`} -l ${longOf(flags)!.slice(2)}${takes} -d ${quoted(words)}`
  })
  const words = argumentWords(spec)
  return [
    ...(second === undefined
      ? []
      : [`complete -c belfry -n ${isOpen} -a ${second} -d ${quoted(spec.summary)}`]),
    ...(words === "files" ? [`complete -c belfry -n ${isHere} -F`] : []),
    ...(words === "files" || words.length === 0
      ? []
      : [`complete -c belfry -n ${isHere}${fishWords(words)}`]),
    ...options,
  ]
}

function fishWords(words: Exclude<Words, "files">): string {
  if (typeof words === "string")
    return ` -a ${quoted(`(${ASKING[words]} 2>/dev/null | string match -r -- '${OFFERED_ID}')`)}`
  return words.length === 0 ? "" : ` -a ${quoted(words.join(" "))}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
}
