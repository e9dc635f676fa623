import { trimRight } from '@krmkit/meta/go-text'
import type { AuditAttributes } from './interfaces.ts'

/** A rule in a policy file. */
export interface AuditRule {
  readonly level: string
  readonly users?: readonly string[]
  readonly userGroups?: readonly string[]
  readonly verbs?: readonly string[]
  readonly resources?: readonly {
    readonly group?: string
    readonly resources?: readonly string[]
    readonly resourceNames?: readonly string[]
  }[]
  readonly namespaces?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly omitStages?: readonly string[]
  readonly omitManagedFields?: boolean
}

/** Whether a rule matches a request. Absent fields match everything. */
export function ruleMatches(rule: AuditRule, attributes: AuditAttributes): boolean {
  const { user, verb } = attributes
  const { users = [], userGroups = [], verbs = [], namespaces = [], resources = [], nonResourceURLs = [] } = rule
  if (users.length > 0 && (user === undefined || !users.includes(user.username))) return false
  if (userGroups.length > 0 && !(user?.groups ?? []).some((group) => userGroups.includes(group))) return false
  if (verbs.length > 0 && !verbs.includes(verb)) return false
  if (namespaces.length > 0 || resources.length > 0) return matchesResource({ namespaces, resources }, attributes)
  if (nonResourceURLs.length > 0)
    return !attributes.isResource && nonResourceURLs.some((url) => matchesPath(url, attributes.path))
  return true
}

function matchesResource(
  { namespaces, resources }: Required<Pick<AuditRule, 'namespaces' | 'resources'>>,
  attributes: AuditAttributes,
): boolean {
  if (!attributes.isResource) return false
  if (namespaces.length > 0 && !namespaces.includes(attributes.namespace)) return false
  if (resources.length === 0) return true
  return resources.some(({ group = '', resources: names = [], resourceNames = [] }) => {
    if (group !== attributes.group) return false
    if (names.length === 0) return true
    if (resourceNames.length > 0 && !resourceNames.includes(attributes.name)) return false
    return names.some((name) => matchesName(name, attributes))
  })
}

/** Whether a resource name of a rule matches: `pods`, `pods/log`, `pods/*`, `*` followed by a subresource, or `*` for everything. */
function matchesName(name: string, { resource, subresource }: AuditAttributes): boolean {
  if (name === '*' || name === (subresource === '' ? resource : `${resource}/${subresource}`)) return true
  if (subresource !== '' && name.startsWith('*/') && name.slice(2) === subresource) return true
  return name.endsWith('/*') && name.slice(0, -2) === resource
}

/** Whether a URL of a rule matches a path. A wildcard is supported only at the end. */
function matchesPath(url: string, path: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(trimRight(url, '*')))
}
