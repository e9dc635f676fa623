/** Aggregated ClusterRoles, whose rules are the union of roles selected by label. */

import { compareCodePoints } from '@krmkit/meta/go-text'
import { type LabelSelectorObject, labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { StoredObject } from '../interfaces.ts'

/** Maximum length of a chain of aggregated roles; each round resolves one level. */
const maxAggregationDepth = 16

/**
 * Computes the rules of an aggregated ClusterRole: for each selector the rules of matching roles, ordered by name, without
 * duplicates. Malformed selectors match nothing. Undefined for roles without an aggregation rule.
 *
 * @example
 * ```ts
 * import { aggregatedRules } from '@krmkit/authorization/rbac'
 *
 * const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
 * const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
 * const pods = { ...rbac, metadata: { name: 'pods', labels: { monitoring: 'true' } }, rules }
 * const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { monitoring: 'true' } }] }
 * aggregatedRules({ ...rbac, metadata: { name: 'monitoring' }, aggregationRule }, [pods])
 * // [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
 * ```
 */
export function aggregatedRules(role: StoredObject, roles: readonly StoredObject[]): readonly unknown[] | undefined {
  const rule = role['aggregationRule'] as { readonly clusterRoleSelectors?: readonly LabelSelectorObject[] } | null | undefined
  if (rule === undefined || rule === null) return undefined
  const sorted = [...roles].sort((a, b) => compareCodePoints(a.metadata.name ?? '', b.metadata.name ?? ''))
  const gathered = new Map<string, unknown>()
  for (const selector of Array.isArray(rule.clusterRoleSelectors) ? rule.clusterRoleSelectors : []) {
    const matches = matcherOf(selector)
    for (const { metadata, ...other } of sorted) {
      if (metadata.name === role.metadata.name || !matches(metadata.labels ?? {})) continue
      const rules = other['rules']
      for (const each of Array.isArray(rules) ? rules : []) {
        const key = JSON.stringify(canonicalRule(each))
        if (!gathered.has(key)) gathered.set(key, each)
      }
    }
  }
  return [...gathered.values()]
}

/** Resolves the aggregation rules of all ClusterRoles, as the clusterrole-aggregation controller eventually does. */
export function aggregateRoles(objects: readonly StoredObject[]): readonly StoredObject[] {
  let current = objects
  for (let round = 0; round < maxAggregationDepth; round++) {
    const roles = current.filter(({ kind }) => kind === 'ClusterRole')
    let changed = false
    const next = current.map((object) => {
      const rules = object.kind === 'ClusterRole' ? aggregatedRules(object, roles) : undefined
      if (rules === undefined || JSON.stringify(object['rules'] ?? []) === JSON.stringify(rules)) return object
      changed = true
      return { ...object, rules } as StoredObject
    })
    if (!changed) break
    current = next
  }
  return current
}

function matcherOf(selector: LabelSelectorObject): (labels: Readonly<Record<string, string>>) => boolean {
  try {
    const parsed = labelSelectorFromObject(selector)
    return (labels) => parsed.matches(labels)
  } catch {
    return () => false
  }
}

/** Returns a canonical form for comparison: sorted members, without empty ones. */
function canonicalRule(rule: unknown): unknown {
  if (typeof rule !== 'object' || rule === null) return rule
  return Object.entries(rule)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0) && value !== null)
    .sort(([a], [b]) => compareCodePoints(a, b))
}
