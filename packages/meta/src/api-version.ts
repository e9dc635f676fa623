/** Text forms of groups, versions, kinds and resources. */

import type { GroupKind, GroupResource, GroupVersion, GroupVersionKind } from './interfaces.ts'
import { MetaError } from './meta-error.ts'

/**
 * Parses `apps/v1`, or `v1` for the core group. Empty text and `/` yield an empty group and version.
 *
 * @throws MetaError `InvalidApiVersion` for more than one slash.
 * @example
 * ```ts
 * parseApiVersion('apps/v1') // { group: 'apps', version: 'v1' }
 * ```
 */
export function parseApiVersion(text: string): GroupVersion {
  if (text === '' || text === '/') return { group: '', version: '' }
  const slash = text.indexOf('/')
  if (slash < 0) return { group: '', version: text }
  if (text.indexOf('/', slash + 1) >= 0) {
    throw new MetaError({ code: 'InvalidApiVersion', message: `unexpected GroupVersion string: ${text}`, text })
  }
  return { group: text.slice(0, slash), version: text.slice(slash + 1) }
}

/** `apps/v1`, or `v1` for the core group. */
export function formatApiVersion(groupVersion: GroupVersion): string {
  return groupVersion.group === '' ? groupVersion.version : `${groupVersion.group}/${groupVersion.version}`
}

/** `deployments.apps`, or `pods` for the core group. */
export function formatGroupResource(resource: GroupResource): string {
  return resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
}

/** `Deployment.apps`, or `Pod` for the core group. */
export function formatGroupKind(kind: GroupKind): string {
  return kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
}

/** `apps/v1, Kind=Deployment`; the core group keeps its slash: `/v1, Kind=Pod`. */
export function formatGroupVersionKind(kind: GroupVersionKind): string {
  return `${kind.group}/${kind.version}, Kind=${kind.kind}`
}
