import type { GroupResource } from '@krmkit/meta'

/**
 * Storage keys: `/group/resource/namespace/name`, with `core` for the core group and no namespace segment for cluster-scoped kinds. A
 * collection is a prefix that ends in a slash.
 */

export function collectionPrefix(definition: { readonly storage: GroupResource }, namespace = ''): string {
  const { group, resource } = definition.storage
  const root = `/${group === '' ? 'core' : group}/${resource}/`
  return namespace === '' ? root : `${root}${namespace}/`
}

/** Names that pass `isStorableName` cannot produce a key outside the collection. */
export function objectKey(definition: { readonly storage: GroupResource }, namespace: string, name: string): string {
  return collectionPrefix(definition, namespace) + name
}

/** Bounds the length of keys; every name rule has a lower limit. */
const maxSegmentLength = 1024

/**
 * Whether a stored object may have this name or namespace. Lookups of other names find nothing.
 *
 * @example
 * import { isStorableName } from '@krmkit/registry'
 * isStorableName('web') // true
 * isStorableName('../web') // false
 */
export function isStorableName(name: string): boolean {
  return (
    name.length <= maxSegmentLength && name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0')
  )
}

const loneSurrogate = /\p{Surrogate}/u

/** Reasons why a path segment cannot be part of a storage key; empty when it can. */
export function unstorableName(name: string): string[] {
  if (name.length > maxSegmentLength) return [`must be no more than ${maxSegmentLength} characters`]
  if (name.includes('\0')) return ['may not contain a zero character']
  return loneSurrogate.test(name) ? ['must be well-formed Unicode'] : []
}
