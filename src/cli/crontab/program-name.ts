const INTERPRETERS = new Set([
  ...["sh", "bash", "zsh", "dash", "env", "sudo", "nohup", "exec", "test", "nice", "ionice", "chronic"],
  ...["python", "python3", "php", "node", "ruby", "perl", "artisan", "console", "manage.py"],
  ...["npm", "npx", "yarn", "pnpm", "run"],
])

/** The program of a command, or what it interprets: `/opt/backup-db.sh` is `backup-db`. */
export function programName(command: string): string {
  const words = command
    .replaceAll(/["'()]/g, " ")
    .trim()
    .split(/\s+/)
  const word = words.find((each) => {
    const base = each.split("/").at(-1)!
    return !INTERPRETERS.has(base) && !/^-/.test(each) && !/^\w+=/.test(each) && /[a-z]/i.test(base)
  })
  return (word ?? "job")
    .split("/")
    .at(-1)!
    .replace(/\.(sh|bash|py|php|js|mjs|ts|rb|pl|bin)$/i, "")
}
