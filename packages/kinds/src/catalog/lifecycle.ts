import { lifecycleJson } from '../data/lifecycles.generated.ts'
import { lifecycleCorrections } from './lifecycle-corrections.ts'

/**
 * The lifecycle of each kind: one row per group, version and kind, over the releases 1.16 to 1.37. Groups have their stock
 * names.
 */

/** A change of the announced lifecycle between two releases. */
export type LifecycleChange = readonly [
  release: string,
  introduced: string | null,
  deprecated: string | null,
  removed: string | null,
  /** `group,version,kind` */
  replacement: string | null,
]

export interface KindLifecycle {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly list: string | null
  readonly namespaced: boolean | null
  /** Releases as `1.21`. */
  readonly introduced: string | null
  readonly deprecated: string | null
  readonly removed: string | null
  /** `group,version,kind` */
  readonly replacement: string | null
  /** Which of the four members above were announced; the others follow from the rules for the stability of the version. */
  readonly explicit: readonly string[]
  /** Newest release whose announcements were read. */
  readonly markersFrom: string
  /** First and last release that has the kind; null where that is not recorded. */
  readonly typesFirst: string | null
  readonly typesLast: string | null
  /** Last release from 1.33 on that serves a resource of the kind; null when none does. */
  readonly servedLast: string | null
  /** Present if announcements changed. */
  readonly history?: readonly LifecycleChange[]
}

/**
 * Parses the table on each call; takes about one millisecond. Kinds that were removed without an announcement have the release of their
 * removal all the same.
 *
 * @example
 * import { readLifecycle } from '@krmkit/kinds'
 * const cronJob = readLifecycle().find(({ kind, version }) => kind === 'CronJob' && version === 'v1beta1')
 * cronJob?.removed // '1.25'
 */
export function readLifecycle(): readonly KindLifecycle[] {
  return (JSON.parse(lifecycleJson) as KindLifecycle[]).map(corrected)
}

function corrected(row: KindLifecycle): KindLifecycle {
  const key = `${row.group}/${row.version}/${row.kind}`
  const correction = Object.hasOwn(lifecycleCorrections, key) ? lifecycleCorrections[key] : undefined
  const { introduced, typesFirst, servedLast } = { ...row, ...correction }
  // A few stable kinds are older than their announcement, and the kinds of some alpha versions announce nothing.
  const isOlder = typesFirst !== null && (introduced === null ? servedLast !== null : minorOf(typesFirst) < minorOf(introduced))
  if (correction === undefined && !isOlder) return row
  return { ...row, ...correction, introduced: isOlder ? typesFirst : introduced }
}

function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1))
}
