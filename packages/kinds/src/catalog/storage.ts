import { compareVersions } from '../groups.ts'

/**
 * Where objects of a kind are stored: one storage version per kind, whatever versions serve it, and one key prefix, whatever
 * groups serve it.
 */

export interface StorageLocation {
  readonly group: string
  readonly version: string
  /** Plural of the resource. */
  readonly resource: string
  /** Path of the collection below the root of the store, without leading or trailing slash. */
  readonly prefix: string
}

/**
 * Resources whose storage version is not the most stable one. Key: `group/resource`.
 *
 * Differs: kube-apiserver stores ServiceCIDR and IPAddress, which became stable in this release, as beta.
 */
const versionExceptions: Readonly<Record<string, string>> = {
  'resource.k8s.io/deviceclasses': 'v1beta1',
  'resource.k8s.io/resourceclaims': 'v1beta1',
  'resource.k8s.io/resourceclaimtemplates': 'v1beta1',
  'resource.k8s.io/resourceslices': 'v1beta1',
}

/** Groups that serve the objects of another group. Key: `group/resource`. */
const cohabitants: Readonly<Record<string, { readonly group: string; readonly version: string }>> = {
  'events.k8s.io/events': { group: '', version: 'v1' },
  // Served by older releases.
  'extensions/ingresses': { group: 'networking.k8s.io', version: 'v1' },
}

/** Collections whose prefix is not their plural. Key: `group/resource`. */
const prefixExceptions: Readonly<Record<string, string>> = {
  '/replicationcontrollers': 'controllers',
  '/endpoints': 'services/endpoints',
  '/services': 'services/specs',
  '/nodes': 'minions',
  'networking.k8s.io/ingresses': 'ingress',
  'policy/podsecuritypolicies': 'podsecuritypolicy',
  'apiextensions.k8s.io/customresourcedefinitions': 'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices': 'apiregistration.k8s.io/apiservices',
}

/** Returns the storage location of a built-in resource that exists at `versions`. */
export function storageLocation(group: string, resource: string, versions: readonly string[]): StorageLocation {
  const key = `${group}/${resource}`
  const other = cohabitants[key]
  if (other !== undefined) {
    return { ...other, resource, prefix: prefixExceptions[`${other.group}/${resource}`] ?? resource }
  }
  const version = versionExceptions[key] ?? [...versions].sort(compareVersions)[0]!
  return { group, version, resource, prefix: prefixExceptions[key] ?? resource }
}
