import { type ArgumentSpec, type CommandSpec, optionsOf } from "./command.ts"
import { COMMANDS, GROUPS } from "./commands.ts"

/** Scripts for shells, made from the table of commands. Keys and run ids are asked of the program itself. */

const KEYS = "belfry schedule list -o name --no-headers -q 2>/dev/null"
const RUNS = "belfry run list -n 50 -o name --no-headers -q 2>/dev/null"

const firstWords = () => [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))]
const secondWords = (group: string) =>
  COMMANDS.filter(({ name }) => name.startsWith(`${group} `)).map(({ name }) => name.split(" ")[1]!)

function longFlags(spec: CommandSpec): readonly string[] {
  return [...optionsOf(spec).map(({ flags }) => /--[\w-]+/.exec(flags)![0]), "--help"]
}

function completesOf(spec: CommandSpec): ArgumentSpec["completes"] {
  return spec.args?.[0]?.completes
}

/** What a shell puts in place of the words to complete an argument with. */
function argumentWords(spec: CommandSpec): string {
  const completes = completesOf(spec)
  if (completes === "schedules") return `$(${KEYS})`
  if (completes === "runs") return `$(${RUNS})`
  return completes === undefined || completes === "files" ? "" : completes.join(" ")
}

/** Every spelling of a command: with the short names of its group. */
function spellings({ name }: CommandSpec): readonly string[] {
  const [first, second] = name.split(" ") as [string, string | undefined]
  if (second === undefined) return [first]
  return [first, ...GROUPS[first]!.aliases].map((group) => `${group} ${second}`)
}

export function bashScript(): string {
  return `# bash completion for belfry; made by: belfry completion bash
_belfry() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${firstWords().join(" ")}"
  else
${caseOf("    ", 'words="', '"')}
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _belfry belfry
`
}

export function zshScript(): string {
  return `#compdef belfry
# zsh completion for belfry; made by: belfry completion zsh
_belfry() {
  local -a COMP_WORDS=("\${words[@]}")
  local COMP_CWORD=$((CURRENT - 1)) cur="\${words[CURRENT]}" reply=""
  setopt localoptions ksharrays shwordsplit
  if [ "$COMP_CWORD" -eq 1 ]; then
    reply="${firstWords().join(" ")}"
  else
${caseOf("    ", 'reply="', '"')}
  fi
  unsetopt ksharrays
  compadd -- \${=reply}
}
if [ "$funcstack[1]" = "_belfry" ]; then _belfry "$@"; else compdef _belfry belfry; fi
`
}

/** The same for both: what may follow the words so far. */
function caseOf(indent: string, before: string, after: string): string {
  const groups = Object.keys(GROUPS).map((group) => {
    const names = [group, ...GROUPS[group]!.aliases].join("|")
    return `${indent}  ${names}) [ "$COMP_CWORD" -eq 2 ] && ${before}${secondWords(group).join(" ")}${after} ;;`
  })
  const commands = COMMANDS.map((spec) => {
    const patterns = spellings(spec)
      .map((spelling) => (spelling.includes(" ") ? `"${spelling}"` : `${spelling}" "*`))
      .join("|")
    const words = [...longFlags(spec), argumentWords(spec)].filter((word) => word !== "").join(" ")
    return `${indent}  ${patterns}) ${before}${words}${after} ;;`
  })
  return [
    `${indent}case "\${COMP_WORDS[1]}" in`,
    ...groups,
    `${indent}esac`,
    `${indent}case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in`,
    ...commands,
    `${indent}esac`,
  ].join("\n")
}

export function fishScript(): string {
  const lines = ["# fish completion for belfry; made by: belfry completion fish", "complete -c belfry -f"]
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
  for (const word of firstWords()) {
    const summary = GROUPS[word]?.summary ?? COMMANDS.find(({ name }) => name === word)?.summary ?? ""
    lines.push(`complete -c belfry -n __fish_use_subcommand -a ${word} -d ${quoted(summary)}`)
  }
  for (const spec of COMMANDS) {
    const [first, second] = spec.name.split(" ") as [string, string | undefined]
    const names = [first, ...(GROUPS[first]?.aliases ?? [])].join(" ")
    if (second !== undefined) {
      const isOpen = `__fish_seen_subcommand_from ${names}; and not __fish_seen_subcommand_from ${secondWords(first).join(" ")}`
      lines.push(`complete -c belfry -n ${quoted(isOpen)} -a ${second} -d ${quoted(spec.summary)}`)
    }
    const seen = `__fish_seen_subcommand_from ${names}${second === undefined ? "" : `; and __fish_seen_subcommand_from ${second}`}`
    const words = argumentWords(spec).replace(/^\$\(|\)$/g, (part) => (part === ")" ? ")" : "("))
    if (words !== "") lines.push(`complete -c belfry -n ${quoted(seen)} -a ${quoted(words)}`)
    for (const { flags, words: about } of optionsOf(spec)) {
      const short = /^-(\w),/.exec(flags)?.[1]
      const takes = flags.includes("<") ? " -r" : ""
      lines.push(
        `complete -c belfry -n ${quoted(seen)}${short === undefined ? "" : ` -s ${short}`} -l ${/--([\w-]+)/.exec(flags)![1]}${takes} -d ${quoted(about)}`,
      )
    }
  }
  return `${lines.join("\n")}\n`
}
