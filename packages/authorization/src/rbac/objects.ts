import { isJsonObject } from '@krmkit/meta'
/** Reads roles and bindings from objects of any origin; malformed parts grant nothing. */

import type { ObjectName, PolicyRule, StoredObject, Subject } from '../interfaces.ts'

export interface RoleObject extends ObjectName {
  readonly rules: readonly PolicyRule[]
}

export interface BindingObject extends ObjectName {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string }
  readonly subjects: readonly Subject[]
}

export const roleKinds: readonly string[] = ['Role', 'ClusterRole']
export const bindingKinds: readonly string[] = ['RoleBinding', 'ClusterRoleBinding']

/** Reads a Role or ClusterRole; malformed rules are dropped. */
export function readRole(object: StoredObject): RoleObject {
  const rules = listOf(object['rules'])
  return { ...nameOf(object), rules: rules.filter(isJsonObject).map(readRule) }
}

/** Reads a RoleBinding or ClusterRoleBinding; malformed subjects are dropped. */
export function readBinding(object: StoredObject): BindingObject {
  const ref = isJsonObject(object['roleRef']) ? object['roleRef'] : {}
  const subjects = listOf(object['subjects']).filter(isJsonObject)
  return {
    ...nameOf(object),
    roleRef: { apiGroup: textOf(ref['apiGroup']), kind: textOf(ref['kind']), name: textOf(ref['name']) },
    subjects: subjects.map((subject) => ({
      kind: textOf(subject['kind']),
      name: textOf(subject['name']),
      ...(textOf(subject['apiGroup']) === '' ? {} : { apiGroup: textOf(subject['apiGroup']) }),
      ...(textOf(subject['namespace']) === '' ? {} : { namespace: textOf(subject['namespace']) }),
    })),
  }
}

export function nameOf({ kind, metadata }: StoredObject): ObjectName {
  const namespaced = kind === 'Role' || kind === 'RoleBinding'
  return { kind, namespace: namespaced ? (metadata?.namespace ?? '') : '', name: metadata?.name ?? '' }
}

/** Reads a rule. Omits empty lists, as kube-apiserver does when it prints rules. */
function readRule(rule: Readonly<Record<string, unknown>>): PolicyRule {
  const made: Record<string, readonly string[]> = { verbs: textsOf(rule['verbs']) }
  for (const member of ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs']) {
    const texts = textsOf(rule[member])
    if (texts.length > 0) made[member] = texts
  }
  return made as unknown as PolicyRule
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((item) => typeof item === 'string')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
