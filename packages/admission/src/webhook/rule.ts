import type { GroupVersionResource } from '@krmkit/meta'

/** The attributes that a rule is matched against. */
export interface RuleAttributes {
  readonly operation: string
  readonly resource: GroupVersionResource
  readonly subresource: string
  /** For a Namespace its own name. */
  readonly namespace: string
}

/** A rule of a webhook configuration or policy. */
export interface Rule {
  readonly operations?: readonly string[] | null
  readonly apiGroups?: readonly string[] | null
  readonly apiVersions?: readonly string[] | null
  readonly resources?: readonly string[] | null
  readonly scope?: string | null
}

/**
 * Whether a rule matches a request.
 *
 * @see API protocol specification, 2.9
 */
export function ruleMatches(rule: Rule, attributes: RuleAttributes): boolean {
  const { group, version } = attributes.resource
  return (
    has(rule.apiGroups, group) &&
    has(rule.apiVersions, version) &&
    resourceMatches(rule.resources ?? [], attributes) &&
    has(rule.operations, attributes.operation) &&
    scopeMatches(rule.scope ?? '*', attributes)
  )
}

function has(list: readonly string[] | null | undefined, wanted: string): boolean {
  if (list === undefined || list === null) return false
  return list.includes('*') || list.includes(wanted)
}

/** Matches `pods`, `pods/status`, `pods/*`, `*`, and `*` with one or all subresources. */
function resourceMatches(resources: readonly string[], { resource, subresource }: RuleAttributes): boolean {
  return resources.some((name) => {
    const slash = name.indexOf('/')
    const whole = slash === -1 ? name : name.slice(0, slash)
    const part = slash === -1 ? '' : name.slice(slash + 1)
    return (whole === '*' || whole === resource.resource) && (part === '*' || part === subresource)
  })
}

/** Namespaces are cluster-scoped, although their requests carry a namespace. */
function scopeMatches(scope: string, { resource, namespace }: RuleAttributes): boolean {
  if (scope === '*') return true
  const inside = namespace !== '' && !(resource.group === '' && resource.resource === 'namespaces')
  return scope === 'Namespaced' ? inside : scope === 'Cluster' && !inside
}
