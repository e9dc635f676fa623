/** Cluster roles that gather their rules from others by label. */

import { compareCodePoints, type LabelSelectorObject, labelSelectorFromObject } from '@krmkit/meta'
import type { StoredObject } from '../interfaces.ts'

/** Each round passes rules on by one step; a chain of roles longer than this is not followed to its end. */
const maxAggregationDepth = 16

/**
 * The rules that a role gathers: of each selector the roles that match, by name, every rule once. Selectors that cannot be read match
 * nothing. Undefined for roles that gather nothing.
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

/** All objects, those that gather rules with what they gather: what a controller makes of them in time. */
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

/** The same for rules that say the same: members in one order, none that are empty. */
function canonicalRule(rule: unknown): unknown {
  if (typeof rule !== 'object' || rule === null) return rule
  return Object.entries(rule)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0) && value !== null)
    .sort(([a], [b]) => compareCodePoints(a, b))
}
