/**
 * The most similar name, for suggestions; undefined when none is similar.
 *
 * @example
 * import { nearestName } from '@krmkit/base/arguments'
 * nearestName('Deploymint', ['Deployment', 'DaemonSet']) // 'Deployment'
 */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(name.length / 4))
  let best: { name: string; distance: number } | undefined
  for (const each of new Set(names)) {
    if (Math.abs(each.length - name.length) > limit) continue
    const distance = distanceOf(name.toLowerCase(), each.toLowerCase())
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name: each, distance }
  }
  return best?.name
}

/** The optimal string alignment distance: insertions, deletions, substitutions and transpositions. */
function distanceOf(a: string, b: string): number {
  if (a.length > 100 || b.length > 100) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (before[j - 2] as number) + 1)
      row.push(cost)
    }
    before = last
    last = row
  }
  return last[b.length] as number
}
