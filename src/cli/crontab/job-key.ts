/** A key for a job: its program's name, or two words of its comment if that says nothing; never one that is taken. */
export function keyFor(name: string, comment: string, taken: Set<string>): string {
  const base = keyOf(
    VAGUE.has(name.toLowerCase()) ? `${name} ${comment.split(/\s+/).slice(0, 3).join(" ")}` : name,
  )
  let key = base
  for (let number = 2; taken.has(key); number++) key = `${base}-${number}`
  taken.add(key)
  return key
}

const VAGUE = new Set([
  "job",
  "run",
  "main",
  "index",
  "cron",
  "script",
  "task",
  "artisan",
  "manage",
  "curl",
  "wget",
  "npm",
  "npx",
])

function keyOf(text: string): string {
  const key = text
    .replaceAll(/[^\w-]+/g, "-")
    .replaceAll(/-{2,}/g, "-")
    .replaceAll(/^-|-$/g, "")
    .toLowerCase()
    .slice(0, 60)
  return key === "" ? "job" : key
}
