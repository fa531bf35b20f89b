/** A key for a job: its program's name, or two words of its comment if that says nothing; never one that is taken. */
export function keyFor(name: string, comment: string, taken: Map<string, number>): string {
  const base = keyOf(
    VAGUE.has(name.toLowerCase()) ? `${name} ${comment.split(/\s+/).slice(0, 3).join(" ")}` : name,
  )
  // The last number is remembered: a thousand jobs of one name don't look through a thousand keys each.
  let number = taken.get(base) ?? 0
  let key = base
  while (taken.has(key)) key = `${base}-${++number}`
  taken.set(key, 1)
  taken.set(base, Math.max(number, 1))
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
