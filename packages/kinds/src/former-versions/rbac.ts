import type { NamingProfile } from '@krmkit/meta'
import type { FormerKind } from './interfaces.ts'
import { type Rewrite, renamed, replaced, type Step, without } from './shape.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

const groupOf = ({ apiDomain }: NamingProfile): string => `rbac.authorization.${apiDomain}`

/** Subjects of `v1alpha1` have an apiVersion in place of a group, and the user `*` stands for the group of all authenticated users. */
const subjectToHub: Rewrite = (subject, { profile }) => {
  const { apiVersion, kind, name } = subject
  if (kind === 'ServiceAccount') return without(subject, 'apiVersion')
  if (kind !== 'User' && kind !== 'Group') return renamed(subject, { apiVersion: 'apiGroup' })
  const apiGroup = groupOf(profile)
  const grouped = apiVersion === undefined ? { ...subject, apiGroup } : replaced(subject, 'apiVersion', { apiGroup })
  return kind === 'User' && name === '*' ? { ...grouped, kind: 'Group', name: 'system:authenticated' } : grouped
}

const subjectFromHub: Rewrite = (subject, { profile }) => {
  const { kind } = subject
  if (kind === 'ServiceAccount') return { ...without(subject, 'apiGroup'), apiVersion: 'v1' }
  if (kind !== 'User' && kind !== 'Group') return renamed(subject, { apiGroup: 'apiVersion' })
  return { ...without(subject, 'apiGroup'), apiVersion: `${groupOf(profile)}/v1alpha1` }
}

const binding: readonly Step[] = [{ at: 'subjects[]', toHub: subjectToHub, fromHub: subjectFromHub }]

export const rbac: readonly FormerKind[] = [
  { group: rbacGroup, kind: 'ClusterRole', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
  { group: rbacGroup, kind: 'Role', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
  { group: rbacGroup, kind: 'ClusterRoleBinding', hub: 'v1', versions: { v1alpha1: binding, v1beta1: [] } },
  { group: rbacGroup, kind: 'RoleBinding', hub: 'v1', versions: { v1alpha1: binding, v1beta1: [] } },
]
