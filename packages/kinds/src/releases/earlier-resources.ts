import type { ResourceFacts } from '../catalog/facts.ts'

/**
 * Resources that 1.33 no longer has, beyond those that its types still describe. Key: folder of the facts, then version. Members that a
 * resource shares with its later versions (verbs, short names, subresources) come from there.
 */

export const crudVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const

const crd: ResourceFacts = { kind: 'CustomResourceDefinition' }

export const earlierResources: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, ResourceFacts>>>>>> = {
  apiextensions: { v1beta1: { customresourcedefinitions: crd } },
  apiregistration: { v1beta1: { apiservices: { kind: 'APIService' } } },
  extensions: {
    v1beta1: {
      ingresses: { kind: 'Ingress', namespaced: true },
      podsecuritypolicies: { kind: 'PodSecurityPolicy', singular: 'podsecuritypolicy', shortNames: ['psp'] },
    },
  },
  policy: {
    v1beta1: {
      podsecuritypolicies: { kind: 'PodSecurityPolicy', singular: 'podsecuritypolicy', shortNames: ['psp'] },
    },
  },
}

/** The folder of the later versions of a resource that moved to another group. Key: `folder/resource`. */
export const sharedWith: Readonly<Record<string, string>> = {
  'extensions/ingresses': 'networking',
  'extensions/networkpolicies': 'networking',
  'extensions/daemonsets': 'apps',
  'extensions/deployments': 'apps',
  'extensions/replicasets': 'apps',
}

/** Subresources that earlier versions of a resource do not have. Key: `group/version/name`. */
export const laterSubresources: ReadonlySet<string> = new Set([
  'storage.k8s.io/v1alpha1/volumeattachments/status',
  'storage.k8s.io/v1beta1/volumeattachments/status',
])

/** Releases that added a subresource. Key: `group/version/name`. */
export const subresourceReleases: Readonly<Record<string, string>> = {
  '/v1/pods/ephemeralcontainers': '1.23',
  '/v1/pods/resize': '1.32',
  'admissionregistration.k8s.io/v1alpha1/validatingadmissionpolicies/status': '1.27',
}

/** Releases that added a verb. Key: `group/version/name verb`. */
export const verbReleases: Readonly<Record<string, string>> = {
  '/v1/services deletecollection': '1.23',
}

/** Versions of a subresource's body that differ by release. Key: `group/version/name`; values: kind until the release, oldest first. */
export const earlierBodies: Readonly<Record<string, readonly { readonly before: string; readonly kind: string }[]>> = {
  '/v1/pods/eviction': [{ before: '1.22', kind: 'policy/v1beta1.Eviction' }],
}
