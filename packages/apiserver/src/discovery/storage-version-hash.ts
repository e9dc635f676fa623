import { base64Text } from '@krmkit/base/bytes'
import { digest } from '@krmkit/base/platform'
import type { GroupVersionKind } from '@krmkit/meta'

/**
 * Opaque hash of the storage version of a kind. It changes with the storage version, so that a migrator knows that stored objects
 * must be rewritten.
 */
export function storageVersionHash({ group, version, kind }: GroupVersionKind): string {
  return base64Text(digest('sha256', [`${group}/${version}/${kind}`]).subarray(0, 8))
}
