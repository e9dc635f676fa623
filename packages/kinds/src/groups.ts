import { type NamingProfile, stockProfile } from '@krmkit/meta'

/**
 * Groups and versions: their order in discovery, and the group names of naming profiles.
 *
 * Groups are listed by descending priority, then by name; versions of a group from the most to the least stable.
 */

const groupPriorities: Readonly<Record<string, number>> = {
  'apiregistration.k8s.io': 20000,
  '': 18000,
  apps: 17800,
  'events.k8s.io': 17750,
  'authentication.k8s.io': 17700,
  'authorization.k8s.io': 17600,
  autoscaling: 17500,
  batch: 17400,
  'certificates.k8s.io': 17300,
  'networking.k8s.io': 17200,
  // Served by older releases.
  extensions: 17150,
  policy: 17100,
  'rbac.authorization.k8s.io': 17000,
  'storage.k8s.io': 16800,
  'admissionregistration.k8s.io': 16700,
  'apiextensions.k8s.io': 16700,
  'scheduling.k8s.io': 16600,
  'coordination.k8s.io': 16500,
  'node.k8s.io': 16300,
  'discovery.k8s.io': 16200,
  'resource.k8s.io': 16200,
  'flowcontrol.apiserver.k8s.io': 16100,
  'internal.apiserver.k8s.io': 16000,
  'storagemigration.k8s.io': 15800,
  'lifecycle.k8s.io': 15700,
}

/** Priority of custom groups. */
const customGroupPriority = 1000

/**
 * `spec.groupPriorityMinimum` of the group's APIService; higher values come first.
 *
 * @example
 * import { groupPriority } from '@krmkit/kinds/groups'
 * groupPriority('apps') // 17800
 * groupPriority('shop.example.com') // 1000
 */
export function groupPriority(group: string): number {
  return Object.hasOwn(groupPriorities, group) ? groupPriorities[group]! : customGroupPriority
}

/**
 * Compares groups by discovery order.
 *
 * @example
 * import { compareGroups } from '@krmkit/kinds/groups'
 * ['shop.example.com', 'batch', 'apps'].sort(compareGroups) // [ 'apps', 'batch', 'shop.example.com' ]
 */
export function compareGroups(a: string, b: string): number {
  return groupPriority(b) - groupPriority(a) || (a < b ? -1 : a > b ? 1 : 0)
}

const versionPattern = /^v([1-9][0-9]{0,8})(?:(alpha|beta)([1-9][0-9]{0,8}))?$/
const stability: Readonly<Record<string, number>> = { alpha: 0, beta: 1 }

/** Versions that kube-apiservers do not order by name. Key: `group/version`; higher values come first. */
const versionPriorities: Readonly<Record<string, number>> = {
  'autoscaling/v2': 30,
  'autoscaling/v1': 15,
  'autoscaling/v2beta1': 9,
  'autoscaling/v2beta2': 1,
}

/**
 * Compares versions from the most to the least preferred: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`, then anything else by
 * name. A few groups have an order of their own.
 *
 * @param group stock name. Default: the order by name.
 *
 * @example
 * import { compareVersions } from '@krmkit/kinds/groups'
 * ['v1alpha1', 'v1', 'v1beta1', 'v2'].sort(compareVersions) // [ 'v2', 'v1', 'v1beta1', 'v1alpha1' ]
 * @see API protocol specification, 9.1
 */
export function compareVersions(a: string, b: string, group = ''): number {
  const [one, two] = [versionPriorities[`${group}/${a}`], versionPriorities[`${group}/${b}`]]
  if (one !== undefined && two !== undefined) return two - one
  const left = versionPattern.exec(a)
  const right = versionPattern.exec(b)
  if (left === null || right === null) return left !== null ? -1 : right !== null ? 1 : a < b ? -1 : a > b ? 1 : 0
  const leftStability = left[2] === undefined ? 2 : stability[left[2]]!
  const rightStability = right[2] === undefined ? 2 : stability[right[2]]!
  return rightStability - leftStability || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0)
}

/**
 * Spells a stock group in the names of a profile: `storage.k8s.io` becomes `storage.<apiDomain>`. Groups outside the domain are
 * unchanged.
 *
 * @example
 * import { profileGroup, stockGroup } from '@krmkit/kinds/groups'
 * import { createNamingProfile } from '@krmkit/meta'
 * const profile = createNamingProfile({ apiDomain: 'acme.example' })
 * profileGroup('storage.k8s.io', profile) // 'storage.acme.example'
 * stockGroup('storage.acme.example', profile) // 'storage.k8s.io'
 */
export function profileGroup(group: string, { apiDomain }: NamingProfile): string {
  return replaceDomain(group, stockProfile.apiDomain, apiDomain)
}

/** The reverse of {@link profileGroup}. */
export function stockGroup(group: string, { apiDomain }: NamingProfile): string {
  return replaceDomain(group, apiDomain, stockProfile.apiDomain)
}

function replaceDomain(group: string, from: string, to: string): string {
  return from !== to && group.endsWith(`.${from}`) ? `${group.slice(0, -from.length)}${to}` : group
}
