import type { GroupResource } from '@krmkit/meta'

/**
 * Where objects lie in storage: `/group/resource/namespace/name`, `core` for the core group, no namespace segment for
 * cluster-scoped kinds. A collection is the prefix with a trailing slash.
 */

export function collectionPrefix(definition: { readonly storage: GroupResource }, namespace = ''): string {
  const { group, resource } = definition.storage
  const root = `/${group === '' ? 'core' : group}/${resource}/`
  return namespace === '' ? root : `${root}${namespace}/`
}

/** A name can be any path segment but `.` and `..`, so keys never leave their collection; see `isStorableName`. */
export function objectKey(definition: { readonly storage: GroupResource }, namespace: string, name: string): string {
  return collectionPrefix(definition, namespace) + name
}

/** Far above what any rule of names allows, and what keeps keys short. */
const maxSegmentLength = 1024

/** False for names (and namespaces) that no stored object can have: they are simply not found. */
export function isStorableName(name: string): boolean {
  return (
    name.length <= maxSegmentLength && name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0')
  )
}

const loneSurrogate = /\p{Surrogate}/u

/** What keeps a name out of storage, although it is a path segment; empty: nothing. */
export function unstorableName(name: string): string[] {
  if (name.length > maxSegmentLength) return [`must be no more than ${maxSegmentLength} characters`]
  if (name.includes('\0')) return ['may not contain a zero character']
  return loneSurrogate.test(name) ? ['must be well-formed Unicode'] : []
}
