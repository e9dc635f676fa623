import type { FormerKind } from './interfaces.ts'
import { rename, type Step } from './shape.ts'

/** The list of groups was named in the singular. */
const review: readonly Step[] = [rename('spec', { group: 'groups' })]

const group = 'authorization.k8s.io'

export const authorization: readonly FormerKind[] = [
  { group, kind: 'SubjectAccessReview', hub: 'v1', versions: { v1beta1: review } },
  { group, kind: 'LocalSubjectAccessReview', hub: 'v1', versions: { v1beta1: review } },
  { group, kind: 'SelfSubjectAccessReview', hub: 'v1', versions: { v1beta1: [] } },
  { group, kind: 'SelfSubjectRulesReview', hub: 'v1', versions: { v1beta1: [] } },
  { group: 'authentication.k8s.io', kind: 'TokenReview', hub: 'v1', versions: { v1beta1: [] } },
  { group: 'authentication.k8s.io', kind: 'SelfSubjectReview', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
]
