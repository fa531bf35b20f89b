/**
 * The least CPU time, in milliseconds, of five runs of an action. Other processes hardly affect it. Only for the long suite: a
 * shared cache or a slow processor still can.
 */
export function leastCpuMs(action: () => unknown): number {
  const taken = [1, 2, 3, 4, 5].map(() => {
    const before = process.cpuUsage()
    action()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...taken)
}
