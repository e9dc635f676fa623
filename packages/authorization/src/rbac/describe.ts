/** Texts of reasons and rules, byte for byte those of kube-apiserver, because people and tools search logs for them. */

import { goQuote } from '@krmkit/meta/go-text'
import type { PolicyRule, Subject } from '../interfaces.ts'
import type { BindingObject } from './objects.ts'

/** `RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to Group "z"` */
export function allowedReason(binding: BindingObject, subject: Subject): string {
  const { kind, namespace, name, roleRef } = binding
  const where = namespace === '' ? name : `${name}/${namespace}`
  const role = `${roleRef.kind} ${goQuote(roleRef.name)}`
  return `RBAC: allowed by ${kind} ${goQuote(where)} of ${role} to ${describeSubject(subject, namespace)}`
}

/** `User "jane"`, `ServiceAccount "name/namespace"` */
export function describeSubject({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  const where = kind === 'ServiceAccount' ? `${name}/${namespace ?? bindingNamespace}` : name
  return `${kind} ${goQuote(where)}`
}

/**
 * The error of kube-apiserver for a binding whose role does not exist.
 *
 * @param resource what the error names. Default: the kind of the role
 */
export function missingRoleMessage(
  { kind, name }: { readonly kind: string; readonly name: string },
  rbacGroup: string,
  resource: string = kind.toLowerCase(),
): string {
  if (kind !== 'Role' && kind !== 'ClusterRole') return `unsupported role reference kind: ${goQuote(kind)}`
  return `${resource}.${rbacGroup} ${goQuote(name)} not found`
}

/**
 * Formats a rule as in messages of kube-apiserver.
 *
 * @example
 * ```ts
 * import { describeRule } from '@krmkit/authorization/rbac'
 *
 * describeRule({ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] })
 * // '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'
 * ```
 */
export function describeRule(rule: PolicyRule): string {
  const parts = [
    formatMember('APIGroups', rule.apiGroups),
    formatMember('Resources', rule.resources),
    formatMember('NonResourceURLs', rule.nonResourceURLs),
    formatMember('ResourceNames', rule.resourceNames),
    formatMember('Verbs', rule.verbs),
  ]
  return `{${parts.filter((text) => text !== '').join(', ')}}`
}

function formatMember(name: string, values: readonly string[] | undefined): string {
  return values === undefined || values.length === 0 ? '' : `${name}:${formatGoList(values)}`
}

/** Formats a list as Go's `%q`. */
export function formatGoList(values: readonly string[]): string {
  return `[${values.map(goQuote).join(' ')}]`
}
