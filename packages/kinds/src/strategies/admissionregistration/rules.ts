/** Rules that select the requests of webhooks and policies. */
import { goStrings } from '@krmkit/meta/go-text'
import type { RuleWithOperations } from '../../types/admissionregistration-v1.generated.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { isEmpty, isSet, type R } from '../shared/values.ts'

export const failurePolicies = ['Fail', 'Ignore']
export const matchPolicies = ['Equivalent', 'Exact']
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']

/** Default scope: all. */
export function defaultRules(rules: { scope?: string }[] | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= '*'
}

/** A rule of a webhook. */
export function validateRule(rule: R<RuleWithOperations>, at: FieldPath): void {
  const list = rule.operations ?? []
  const here = at.child('operations')
  if (list.length === 0) here.required()
  if (list.length > 1 && list.includes('*')) {
    const printed = goStrings(list).replace('[]string', '[]admissionregistration.OperationType')
    here.invalidText(printed, "if '*' is present, must not specify other operations")
  }
  for (const [i, operation] of list.entries())
    if (!operations.includes(operation)) here.index(i).notSupported(operation, operations)
  validateList(rule.apiGroups, at.child('apiGroups'), 'API groups')
  validateList(rule.apiVersions, at.child('apiVersions'), 'API versions')
  for (const [i, version] of (rule.apiVersions ?? []).entries()) if (version === '') at.child('apiVersions').index(i).required()
  validateResources(rule.resources ?? [], at.child('resources'))
  if (isSet(rule.scope) && !scopes.includes(rule.scope)) at.child('scope').notSupported(rule.scope, scopes)
}

function validateList(list: readonly string[] | undefined, at: FieldPath, what: string): void {
  if (isEmpty(list)) {
    at.required()
    return
  }
  if (list.length > 1 && list.includes('*')) at.invalidText(goStrings(list), `if '*' is present, must not specify other ${what}`)
}

function validateResources(resources: readonly string[], at: FieldPath): void {
  if (resources.length === 0) at.required()
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  let plain = false
  for (const [i, name] of resources.entries()) {
    if (name === '') {
      at.index(i).required()
      continue
    }
    const slash = name.indexOf('/')
    if (slash === -1) {
      plain = name !== '*'
      continue
    }
    const resource = name.slice(0, slash)
    const subresource = name.slice(slash + 1)
    if (wholeResources.has(resource)) at.index(i).invalid(name, `if '${resource}/*' is present, must not specify ${name}`)
    if (wholeSubresources.has(subresource))
      at.index(i).invalid(name, `if '*/${subresource}' is present, must not specify ${name}`)
    if (subresource === '*') wholeResources.add(resource)
    if (resource === '*') wholeSubresources.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    at.invalidText(goStrings(resources), "if '*/*' is present, must not specify other resources")
  }
  if (resources.includes('*') && plain) {
    at.invalidText(goStrings(resources), "if '*' is present, must not specify other resources without subresources")
  }
}
