/** Names that a distribution may change. */

import type { NamingProfile } from './interfaces.ts'

/** The names of kube-apiserver. */
export const stockProfile: NamingProfile = Object.freeze({
  apiDomain: 'k8s.io',
  vendor: 'kubernetes',
  domain: 'kubernetes.io',
  systemNamespace: 'kube-system',
  publicNamespace: 'kube-public',
  nodeLeaseNamespace: 'kube-node-lease',
})

/**
 * Creates a profile: the names of kube-apiserver, some of them replaced.
 *
 * @example
 * import { createNamingProfile } from '@krmkit/meta'
 * createNamingProfile({ systemNamespace: 'acme-system' }).systemNamespace // 'acme-system'
 */
export function createNamingProfile(names: Partial<NamingProfile>): NamingProfile {
  return Object.freeze({ ...stockProfile, ...names })
}
