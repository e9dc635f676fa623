import { compareVersions } from './priorities.ts'

/**
 * Where objects of a kind are kept: one storage version a kind, whatever versions it is served at, and one key prefix
 * whatever groups it is served in.
 */

export interface StorageLocation {
  readonly group: string
  readonly version: string
  /** Plural of the resource. */
  readonly resource: string
  /** Path of the collection below the root of the store, without slashes around it. */
  readonly prefix: string
}

/**
 * Resources whose storage version is not the most stable one. Key: `group/resource`.
 *
 * Differs: service ranges and addresses, whose stable version is as new as the release, are stored as beta by the stock server.
 */
const versionExceptions: Readonly<Record<string, string>> = {
  'coordination.k8s.io/leasecandidates': 'v1alpha2',
  'resource.k8s.io/deviceclasses': 'v1beta1',
  'resource.k8s.io/resourceclaims': 'v1beta1',
  'resource.k8s.io/resourceclaimtemplates': 'v1beta1',
  'resource.k8s.io/resourceslices': 'v1beta1',
}

/** Groups that serve the objects of another group. Key: `group/resource`. */
const cohabitants: Readonly<Record<string, { readonly group: string; readonly version: string }>> = {
  'events.k8s.io/events': { group: '', version: 'v1' },
}

/** Collections that are not kept under their plural. Key: `group/resource`. */
const prefixExceptions: Readonly<Record<string, string>> = {
  '/replicationcontrollers': 'controllers',
  '/endpoints': 'services/endpoints',
  '/services': 'services/specs',
  '/nodes': 'minions',
  'networking.k8s.io/ingresses': 'ingress',
  'apiextensions.k8s.io/customresourcedefinitions': 'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices': 'apiregistration.k8s.io/apiservices',
}

/** The location of a built-in resource that is known at `versions`. */
export function storageLocation(group: string, resource: string, versions: readonly string[]): StorageLocation {
  const key = `${group}/${resource}`
  const other = cohabitants[key]
  if (other !== undefined) return { ...other, resource, prefix: resource }
  const version = versionExceptions[key] ?? [...versions].sort(compareVersions)[0]!
  return { group, version, resource, prefix: prefixExceptions[key] ?? resource }
}
