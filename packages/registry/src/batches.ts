import type { Slices } from '@krmkit/meta/slices'
import type { Entry } from '@krmkit/storage'

/** Batches of entries for work in slices. @see docs/decisions/0011-bounded-work.md */

/** Entries and bytes of one batch. */
const batchEntries = 256
const batchBytes = 1024 * 1024

/** Values above this size take long enough to read the clock after each. */
const largeBytes = 16 * 1024

/** Whether `Slices.due` should read the clock after work on an entry. */
export function isLargeEntry({ value }: Entry): boolean {
  return value.byteLength > largeBytes
}

/**
 * Runs `load` batch by batch.
 *
 * @returns `undefined` when there is nothing to wait for.
 */
export function loadInBatches(
  load: (entries: readonly Entry[]) => Promise<void> | undefined,
  entries: readonly Entry[],
  slices: Slices,
): Promise<void> | undefined {
  for (let from = 0; from < entries.length; ) {
    const to = batchEnd(entries, from)
    const loading = load(entries.slice(from, to))
    if (loading !== undefined) return loading.then(() => loadRest(load, entries.slice(to), slices))
    from = to
  }
  return undefined
}

async function loadRest(
  load: (entries: readonly Entry[]) => Promise<void> | undefined,
  entries: readonly Entry[],
  slices: Slices,
): Promise<void> {
  for (let from = 0; from < entries.length; ) {
    if (slices.due(true)) await slices.next()
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
