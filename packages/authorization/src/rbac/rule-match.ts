/** Matching of one rule against a request. */

import type { Attributes, PolicyRule } from '../interfaces.ts'

const none: readonly string[] = []

/** Whether a rule allows a request. @see API protocol specification, 5.9 */
export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  const { verb, name } = attributes
  if (!rule.verbs.includes(verb) && !rule.verbs.includes('*')) return false
  if (!attributes.isResource) return pathMatches(rule.nonResourceURLs ?? none, attributes.path)
  const groups = rule.apiGroups ?? none
  if (!groups.includes(attributes.group) && !groups.includes('*')) return false
  if (!resourceMatches(rule.resources ?? none, attributes)) return false
  const names = rule.resourceNames ?? none
  return names.length === 0 || names.includes(name)
}

/** `*` matches everything; `resource/sub` and `*` + `/sub` match subresources; `resource` matches no subresource. */
function resourceMatches(resources: readonly string[], { resource, subresource }: Attributes): boolean {
  if (subresource === '') return resources.includes(resource) || resources.includes('*')
  for (const candidate of resources) {
    if (candidate === '*') return true
    const slash = candidate.length - subresource.length - 1
    if (slash < 0 || candidate[slash] !== '/' || !candidate.endsWith(subresource)) continue
    if (slash === 1 && candidate[0] === '*') return true
    if (slash === resource.length && candidate.startsWith(resource)) return true
  }
  return false
}

/** Patterns are `*`, an exact path, or a prefix followed by `*`. */
export function pathMatches(patterns: readonly string[], path: string): boolean {
  for (const pattern of patterns) if (pattern === '*' || pattern === path || matchesPrefix(pattern, path)) return true
  return false
}

function matchesPrefix(pattern: string, path: string): boolean {
  if (!pattern.endsWith('*')) return false
  let end = pattern.length
  while (end > 0 && pattern[end - 1] === '*') end--
  return path.length >= end && path.startsWith(pattern.slice(0, end))
}
