/**
 * Groups, versions, kinds and resources as text.
 */

import type { GroupKind, GroupResource, GroupVersion, GroupVersionKind } from './interfaces.ts'
import { MetaError } from './meta-error.ts'

/**
 * Reads `apps/v1`, or `v1` for the core group. Empty text and `/` give an empty group and version.
 *
 * @throws MetaError `InvalidApiVersion` when there is more than one slash.
 */
export function parseApiVersion(text: string): GroupVersion {
  if (text === '' || text === '/') return { group: '', version: '' }
  const slash = text.indexOf('/')
  if (slash < 0) return { group: '', version: text }
  if (text.indexOf('/', slash + 1) >= 0) {
    throw new MetaError('InvalidApiVersion', text, `unexpected GroupVersion string: ${text}`)
  }
  return { group: text.slice(0, slash), version: text.slice(slash + 1) }
}

/** `apps/v1`, or `v1` in the core group. */
export function formatApiVersion(groupVersion: GroupVersion): string {
  return groupVersion.group === '' ? groupVersion.version : `${groupVersion.group}/${groupVersion.version}`
}

/** `deployments.apps`, or `pods` in the core group. */
export function formatGroupResource(resource: GroupResource): string {
  return resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
}

/** `Deployment.apps`, or `Pod` in the core group. */
export function formatGroupKind(kind: GroupKind): string {
  return kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
}

/** `apps/v1, Kind=Deployment`; the core group keeps its slash: `/v1, Kind=Pod`. */
export function formatGroupVersionKind(kind: GroupVersionKind): string {
  return `${kind.group}/${kind.version}, Kind=${kind.kind}`
}
