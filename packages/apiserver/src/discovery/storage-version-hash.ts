import { createHash } from 'node:crypto'
import type { GroupVersionKind } from '@krmkit/meta'

/**
 * An opaque mark of the version in which objects of a kind are stored: it changes when that does, so that a storage migration
 * knows it has work to do.
 */
export function storageVersionHash({ group, version, kind }: GroupVersionKind): string {
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
}
