import type { Pace } from '@krmkit/base/work'
import type { Entry } from '@krmkit/storage'

/** Batches of entries for work in slices. @see docs/internals/decisions/0011-bounded-work.md */

/** Maximum number of entries and bytes in one batch. */
const batchEntries = 256
const batchBytes = 1024 * 1024

/** Values above this size take so long that the clock is read after each of them. */
const largeBytes = 16 * 1024

/**
 * Whether `Pace.due` should read the clock after work on an entry.
 *
 * @example
 * import { isLargeEntry } from '@krmkit/registry'
 * const key = '/core/configmaps/shop/web'
 * isLargeEntry({ key, value: new Uint8Array(20_000), revision: 7, created: 7, memo: undefined }) // true
 */
export function isLargeEntry({ value }: Entry): boolean {
  return value.byteLength > largeBytes
}

/**
 * Runs `load` batch by batch: at most 256 entries or 1 MiB each.
 *
 * @returns `undefined` when every call of `load` returned `undefined`.
 * @example
 * import { createTurns, Pace } from '@krmkit/base/work'
 * import { loadInBatches } from '@krmkit/registry'
 * import { memoryStorage } from '@krmkit/storage'
 * const storage = memoryStorage()
 * const { entries } = await storage.list({ prefix: '/core/pods/', limit: 5000 })
 * await loadInBatches(async (batch) => console.log(batch.length), entries, new Pace(createTurns()))
 */
export function loadInBatches(
  load: (entries: readonly Entry[]) => Promise<void> | undefined,
  entries: readonly Entry[],
  pace: Pace,
): Promise<void> | undefined {
  for (let from = 0; from < entries.length; ) {
    const to = batchEnd(entries, from)
    const loading = load(entries.slice(from, to))
    if (loading !== undefined) return loading.then(() => loadRest(load, entries.slice(to), pace))
    from = to
  }
  return undefined
}

async function loadRest(
  load: (entries: readonly Entry[]) => Promise<void> | undefined,
  entries: readonly Entry[],
  pace: Pace,
): Promise<void> {
  for (let from = 0; from < entries.length; ) {
    if (pace.due(true)) await pace.next()
    const to = batchEnd(entries, from)
    await load(entries.slice(from, to))
    from = to
  }
}

function batchEnd(entries: readonly Entry[], from: number): number {
  let bytes = 0
  let to = from
  while (to < entries.length && to - from < batchEntries && bytes < batchBytes) bytes += entries[to++]?.value.byteLength ?? 0
  return to
}
