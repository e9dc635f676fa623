import { createHash } from 'node:crypto'
import type { GroupVersionKind } from '@krmkit/meta'

/**
 * Opaque hash of the storage version of a kind. It changes with the storage version, so that a migrator knows that stored objects
 * must be rewritten.
 */
export function storageVersionHash({ group, version, kind }: GroupVersionKind): string {
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
}
