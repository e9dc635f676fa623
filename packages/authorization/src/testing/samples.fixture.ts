import type { Attributes, PolicyRule, StoredObject, Subject } from '../interfaces.ts'

/** Shorthand constructors for RBAC objects and request attributes. */

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

export function clusterRole(name: string, rules: readonly PolicyRule[], labels: Record<string, string> = {}): StoredObject {
  return { apiVersion, kind: 'ClusterRole', metadata: { name, labels }, rules }
}

export function role(namespace: string, name: string, rules: readonly PolicyRule[]): StoredObject {
  return { apiVersion, kind: 'Role', metadata: { namespace, name }, rules }
}

export function clusterBinding(name: string, roleName: string, ...subjects: Subject[]): StoredObject {
  return {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup, kind: 'ClusterRole', name: roleName },
    subjects,
  }
}

export function binding(
  namespace: string,
  name: string,
  ref: readonly [kind: string, name: string],
  ...subjects: Subject[]
): StoredObject {
  return {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { namespace, name },
    roleRef: { apiGroup, kind: ref[0], name: ref[1] },
    subjects,
  }
}

export const user = (name: string): Subject => ({ kind: 'User', apiGroup, name })
export const group = (name: string): Subject => ({ kind: 'Group', apiGroup, name })
export const account = (name: string, namespace?: string): Subject => ({
  kind: 'ServiceAccount',
  name,
  ...(namespace === undefined ? {} : { namespace }),
})

/** Attributes of a resource request; the default user is `jane` without groups. */
export function attributesOf(verb: string, resource: string, rest: Partial<Attributes> = {}): Attributes {
  const [plural = '', subresource = ''] = resource.split('/')
  return {
    user: { username: 'jane', groups: [] },
    verb,
    isResource: true,
    group: '',
    version: 'v1',
    resource: plural,
    subresource,
    namespace: '',
    name: '',
    path: '',
    ...rest,
  }
}

export function pathAttributesOf(verb: string, path: string, rest: Partial<Attributes> = {}): Attributes {
  return { ...attributesOf(verb, '', rest), isResource: false, version: '', path }
}

export function rule(verbs: string, groups: string, resources: string, resourceNames?: string): PolicyRule {
  return {
    verbs: verbs.split(' '),
    apiGroups: groups.split(' ').map((word) => (word === 'core' ? '' : word)),
    resources: resources.split(' '),
    ...(resourceNames === undefined ? {} : { resourceNames: resourceNames.split(' ') }),
  }
}
