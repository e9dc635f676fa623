import { sort, type Work } from '@krmkit/base/work'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { emptySet, type FieldSet } from '../fieldpath/field-set.ts'
import type { VersionedSet } from '../merge/managers.ts'
import { type Managed, secondsOf } from './entries.ts'
import { managerKey } from './manager-id.ts'

/** Maximum number of update entries before the oldest are merged. */
export const maxUpdateManagers = 10

/** The manager of the merged oldest update entries of a version. */
export const ancientChangesManager = 'ancient-changes'

/**
 * Merges the oldest update entries of each version until at most `max` entries are left. A single old entry of a version is kept unchanged.
 */
export function* capManagers(managed: Managed, max = maxUpdateManagers): Work<Managed> {
  let count = 0
  for (const { applied } of managed.managers.values()) if (!applied) count++
  if (count <= max) return managed
  const updaters = yield* oldestFirst(managed)
  const managers = new Map(managed.managers)
  const times = new Map(managed.times)
  const firstOf = new Map<string, string>()
  // The sets to merge for each version; they are united at the end.
  const parts = new Map<string, FieldSet[]>()
  let merged = 0
  for (const { key } of updaters) {
    if (count <= max) break
    if (++merged % stepSize === 0) yield
    const owned = managers.get(key) as VersionedSet
    const first = firstOf.get(owned.apiVersion)
    if (first === undefined) {
      firstOf.set(owned.apiVersion, key)
      continue
    }
    const bucket = managerKey({
      manager: ancientChangesManager,
      operation: 'Update',
      apiVersion: owned.apiVersion,
      subresource: '',
    })
    const before = (managers.get(bucket) ?? managers.get(first))?.set ?? emptySet
    if (!managers.has(bucket)) managers.delete(first)
    const sets = parts.get(bucket)
    if (sets === undefined) parts.set(bucket, [before, owned.set])
    else sets.push(owned.set)
    managers.set(bucket, { ...owned, set: before })
    managers.delete(key)
    if (key === bucket) parts.delete(bucket)
    setTime(times, bucket, managed.times.get(key))
    count--
  }
  for (const [bucket, sets] of parts) {
    const set = yield* unionOf(sets)
    managers.set(bucket, { ...(managers.get(bucket) as VersionedSet), set })
  }
  return { managers, times, sources: managed.sources }
}

/** Number of managers visited between two yields. */
const stepSize = 64

interface AgedManager {
  readonly key: string
  readonly seconds: number
}

/** The keys of update entries. */
function* oldestFirst({ managers, times }: Managed): Work<readonly AgedManager[]> {
  const aged: AgedManager[] = []
  for (const [key, { applied }] of managers) {
    if (applied) continue
    aged.push({ key, seconds: secondsOf(times.get(key)) })
    if (aged.length % stepSize === 0) yield
  }
  return yield* sort(aged, (a, b) => a.seconds - b.seconds || compareCodePoints(a.key, b.key))
}

/** Unites sets pairwise, so that each path is copied a logarithmic number of times. */
function* unionOf(sets: readonly FieldSet[]): Work<FieldSet> {
  if (sets.length <= 1) return sets[0] ?? emptySet
  const half = sets.length >> 1
  const left = yield* unionOf(sets.slice(0, half))
  const right = yield* unionOf(sets.slice(half))
  yield true
  return left.union(right)
}

function setTime(times: Map<string, string>, key: string, time: string | undefined): void {
  if (time === undefined) times.delete(key)
  else times.set(key, time)
}
