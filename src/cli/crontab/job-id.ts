/** An id for a job: its program's name, or two words of its comment if that says nothing; never one that is taken. */
export function idFor(name: string, comment: string, taken: Map<string, number>): string {
  const base = idOf(
    VAGUE.has(name.toLowerCase()) ? `${name} ${comment.split(/\s+/).slice(0, 3).join(" ")}` : name,
  )
  // The last number is remembered: a thousand jobs of one name don't look through a thousand ids each.
  let number = taken.get(base) ?? 0
  let id = base
  while (taken.has(id)) id = `${base}-${++number}`
  taken.set(id, 1)
  taken.set(base, Math.max(number, 1))
  return id
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

function idOf(text: string): string {
  const id = text
    .replaceAll(/[^\w-]+/g, "-")
    .replaceAll(/-{2,}/g, "-")
    .replaceAll(/^-|-$/g, "")
    .toLowerCase()
    .slice(0, 60)
  return id === "" ? "job" : id
}
