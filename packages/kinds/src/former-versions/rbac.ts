import type { FormerKind } from './interfaces.ts'
import { type Rewrite, renamed, replaced, type Step, without } from './shape.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

/** Kinds of subjects whose group follows from the kind. */
const accountVersions: Readonly<Record<string, string>> = { User: `${rbacGroup}/v1alpha1`, Group: `${rbacGroup}/v1alpha1` }

/** Subjects of `v1alpha1` have an apiVersion in place of a group, and the user `*` stands for all authenticated ones. */
const subjectToHub: Rewrite = (subject) => {
  const { apiVersion, kind, name } = subject
  if (kind === 'ServiceAccount') return without(subject, 'apiVersion')
  if (kind !== 'User' && kind !== 'Group') return renamed(subject, { apiVersion: 'apiGroup' })
  const grouped =
    apiVersion === undefined ? { ...subject, apiGroup: rbacGroup } : replaced(subject, 'apiVersion', { apiGroup: rbacGroup })
  return kind === 'User' && name === '*' ? { ...grouped, kind: 'Group', name: 'system:authenticated' } : grouped
}

const subjectFromHub: Rewrite = (subject) => {
  const { kind, name } = subject
  if (kind === 'ServiceAccount') return replaced(subject, 'apiGroup', {})
  if (kind !== 'User' && kind !== 'Group') return renamed(subject, { apiGroup: 'apiVersion' })
  const versioned = replaced(subject, 'apiGroup', { apiVersion: accountVersions[kind] })
  return kind === 'Group' && name === 'system:authenticated' ? { ...versioned, kind: 'User', name: '*' } : versioned
}

const binding: readonly Step[] = [{ at: 'subjects[]', toHub: subjectToHub, fromHub: subjectFromHub }]

export const rbac: readonly FormerKind[] = [
  { group: rbacGroup, kind: 'ClusterRole', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
  { group: rbacGroup, kind: 'Role', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
  { group: rbacGroup, kind: 'ClusterRoleBinding', hub: 'v1', versions: { v1alpha1: binding, v1beta1: [] } },
  { group: rbacGroup, kind: 'RoleBinding', hub: 'v1', versions: { v1alpha1: binding, v1beta1: [] } },
]
