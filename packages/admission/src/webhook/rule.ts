import type { GroupVersionResource } from '@krmkit/meta'

/** What a rule of a webhook is held against. */
export interface RuleSubject {
  readonly operation: string
  readonly resource: GroupVersionResource
  readonly subresource: string
  /** Of a Namespace its own name. */
  readonly namespace: string
}

/** A rule as configurations hold it. */
export interface Rule {
  readonly operations?: readonly string[] | null
  readonly apiGroups?: readonly string[] | null
  readonly apiVersions?: readonly string[] | null
  readonly resources?: readonly string[] | null
  readonly scope?: string | null
}

/**
 * Whether a rule covers a request.
 *
 * @see API protocol specification, 2.9
 */
export function ruleCovers(rule: Rule, subject: RuleSubject): boolean {
  const { group, version } = subject.resource
  return (
    has(rule.apiGroups, group) &&
    has(rule.apiVersions, version) &&
    coversResource(rule.resources ?? [], subject) &&
    has(rule.operations, subject.operation) &&
    coversScope(rule.scope ?? '*', subject)
  )
}

function has(list: readonly string[] | null | undefined, wanted: string): boolean {
  if (list === undefined || list === null) return false
  return list.includes('*') || list.includes(wanted)
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*` with a sub-resource, `*` with every one. */
function coversResource(resources: readonly string[], { resource, subresource }: RuleSubject): boolean {
  return resources.some((name) => {
    const slash = name.indexOf('/')
    const whole = slash === -1 ? name : name.slice(0, slash)
    const part = slash === -1 ? '' : name.slice(slash + 1)
    return (whole === '*' || whole === resource.resource) && (part === '*' || part === subresource)
  })
}

/** Namespaces are cluster-scoped, although requests for them have a namespace. */
function coversScope(scope: string, { resource, namespace }: RuleSubject): boolean {
  if (scope === '*') return true
  const inside = namespace !== '' && !(resource.group === '' && resource.resource === 'namespaces')
  return scope === 'Namespaced' ? inside : scope === 'Cluster' && !inside
}
