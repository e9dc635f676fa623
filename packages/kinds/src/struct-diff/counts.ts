/** Numbers of parts that are alike or not, as comments say them: `3 identical and 1 modified fields`. */

import type { Edit } from './edit-script.ts'

export interface Counts {
  identical: number
  removed: number
  inserted: number
  modified: number
}

export function noCounts(): Counts {
  return { identical: 0, removed: 0, inserted: 0, modified: 0 }
}

export function differencesOf({ removed, inserted, modified }: Counts): number {
  return removed + inserted + modified
}

export function addCounts(to: Counts, { identical, removed, inserted, modified }: Counts): void {
  to.identical += identical
  to.removed += removed
  to.inserted += inserted
  to.modified += modified
}

/** Members of {@link Counts} by edit. */
export const memberOf: Readonly<Record<Edit, keyof Counts>> = {
  same: 'identical',
  removed: 'removed',
  inserted: 'inserted',
  modified: 'modified',
}

/** Runs of equal parts and of others. */
export function* groupsOf(edits: Iterable<Edit>): Generator<Counts> {
  let group: Counts | undefined
  for (const edit of edits) {
    if (group !== undefined && (edit === 'same') !== (differencesOf(group) === 0)) {
      yield group
      group = undefined
    }
    group ??= noCounts()
    group[memberOf[edit]]++
  }
  if (group !== undefined) yield group
}

/** @param name of one part */
export function countsText(counts: Counts, name: string): string {
  const labels = ['identical', 'removed', 'inserted', 'modified'] as const
  const parts = labels.filter((label) => counts[label] > 0).map((label) => `${counts[label]} ${label}`)
  const isPlural = counts.identical + differencesOf(counts) > 1
  const plural = name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`
  const last = parts.pop() ?? ''
  const list = parts.length > 1 ? `${parts.join(', ')}, and ${last}` : [...parts, last].join(' and ')
  return `${list} ${isPlural ? plural : name}`
}
