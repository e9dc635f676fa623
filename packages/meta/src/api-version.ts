/** Text forms of groups, versions, kinds and resources. */

import type { GroupKind, GroupResource, GroupVersion, GroupVersionKind } from './interfaces.ts'
import { MetaError } from './meta-error.ts'

/**
 * Parses `apps/v1`, or `v1` for the core group. Empty text and `/` yield an empty group and version.
 *
 * @throws MetaError `InvalidApiVersion` for more than one slash.
 * @example
 * import { parseApiVersion } from '@krmkit/meta'
 * parseApiVersion('apps/v1') // { group: 'apps', version: 'v1' }
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

/**
 * `apps/v1`, or `v1` for the core group.
 *
 * @example
 * import { formatApiVersion } from '@krmkit/meta'
 * formatApiVersion({ group: 'apps', version: 'v1' }) // 'apps/v1'
 */
export function formatApiVersion(groupVersion: GroupVersion): string {
  return groupVersion.group === '' ? groupVersion.version : `${groupVersion.group}/${groupVersion.version}`
}

/**
 * `deployments.apps`, or `pods` for the core group.
 *
 * @example
 * import { formatGroupResource } from '@krmkit/meta/api-version'
 * formatGroupResource({ group: 'apps', resource: 'deployments' }) // 'deployments.apps'
 */
export function formatGroupResource(resource: GroupResource): string {
  return resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
}

/** `Deployment.apps`, or `Pod` for the core group. @see {@link formatGroupResource} */
export function formatGroupKind(kind: GroupKind): string {
  return kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
}

/**
 * `apps/v1, Kind=Deployment`; the core group keeps its slash: `/v1, Kind=Pod`.
 *
 * @example
 * import { formatGroupVersionKind } from '@krmkit/meta/api-version'
 * formatGroupVersionKind({ group: 'apps', version: 'v1', kind: 'Deployment' }) // 'apps/v1, Kind=Deployment'
 */
export function formatGroupVersionKind(kind: GroupVersionKind): string {
  return `${kind.group}/${kind.version}, Kind=${kind.kind}`
}
