const INTERPRETERS = new Set([
  ...["sh", "bash", "zsh", "dash", "env", "sudo", "nohup", "exec", "test", "nice", "ionice", "chronic"],
  ...["python", "python3", "php", "node", "ruby", "perl", "artisan", "console", "manage.py"],
  ...["npm", "npx", "yarn", "pnpm", "run"],
])

/** Programs that run another program: their options with a value, and the number of operands before that program. */
const WRAPPERS: Readonly<Record<string, { values: readonly string[]; operands: number }>> = {
  flock: { values: ["-w", "--wait", "--timeout", "-E", "--conflict-exit-code"], operands: 1 },
  timeout: { values: ["-k", "--kill-after", "-s", "--signal"], operands: 1 },
  sudo: { values: ["-u", "--user", "-g", "--group"], operands: 0 },
  nice: { values: ["-n", "--adjustment"], operands: 0 },
  ionice: { values: ["-c", "--class", "-n", "--classdata"], operands: 0 },
  cd: { values: [], operands: 1 },
}

/** The name of the program, or of the script that it interprets: `/opt/backup-db.sh` gives `backup-db`. */
export function programName(command: string): string {
  const words = command
    .replaceAll(/["'();&|]/g, " ")
    .trim()
    .split(/\s+/)
  return (programIn(words) ?? "job")
    .split("/")
    .at(-1)!
    .replace(/\.(sh|bash|py|php|js|mjs|ts|rb|pl|bin)$/i, "")
}

function programIn(words: readonly string[]): string | undefined {
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    const base = word.split("/").at(-1)!
    if (Object.hasOwn(WRAPPERS, base)) index = lastOfWrapper(words, index, WRAPPERS[base]!)
    else if (!INTERPRETERS.has(base) && !/^-/.test(word) && !/^\w+=/.test(word) && /[a-z]/i.test(base))
      return word
  }
  return undefined
}

/** The index of the last word that belongs to the wrapper itself. */
function lastOfWrapper(
  words: readonly string[],
  at: number,
  { values, operands }: { values: readonly string[]; operands: number },
): number {
  let index = at
  while (words[index + 1]?.startsWith("-")) index += values.includes(words[index + 1]!) ? 2 : 1
  return index + operands
}
