/** Whether the rules that somebody holds cover others: nobody may hand out more than they have. */

import type { PolicyRule } from '../interfaces.ts'
import { describeRule } from './describe.ts'

export type Coverage =
  | { readonly outcome: 'covered' }
  | { readonly outcome: 'uncovered'; readonly missing: readonly PolicyRule[] }
  /** The rules say too many combinations to look at. */
  | { readonly outcome: 'tooMany' }

/** Comparisons of single rights; a request that needs more is refused. */
const budget = 10_000_000
/** Missing rights that are told. */
const told = 1000

/**
 * Takes rules apart into single rights (one verb on one resource by one name) and looks for a held rule that covers each.
 *
 * Differs: the stock server has no bound; here rules with very many combinations are refused, since a request must not hold up all others.
 */
export function covers(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Coverage {
  const missing: PolicyRule[] = []
  let left = budget
  for (const rule of wanted) {
    if (held.some((each) => ruleCovers(each, rule))) continue
    const rights = combinations(rule)
    left -= rights * Math.max(1, held.length)
    if (left < 0) return { outcome: 'tooMany' }
    for (const right of singleRights(rule)) {
      if (held.some((each) => ruleCovers(each, right))) continue
      missing.push(right)
      if (missing.length === told) return { outcome: 'uncovered', missing }
    }
  }
  return missing.length === 0 ? { outcome: 'covered' } : { outcome: 'uncovered', missing }
}

/** Lines that tell missing rights: verbs of one resource together, each line once, in order. */
export function describeMissing(missing: readonly PolicyRule[]): string {
  const simple = new Map<string, PolicyRule>()
  const lines: string[] = []
  for (const rule of missing) {
    const { apiGroups = [], resources = [], resourceNames = [], verbs } = rule
    if (apiGroups.length !== 1 || resources.length !== 1) {
      lines.push(describeRule(rule))
      continue
    }
    const key = JSON.stringify([apiGroups[0], resources[0], resourceNames])
    const known = simple.get(key)
    simple.set(key, known === undefined ? rule : { ...known, verbs: [...known.verbs, ...verbs] })
  }
  for (const rule of simple.values()) lines.push(describeRule(rule))
  return [...new Set(lines)].sort().join('\n')
}

function combinations({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): number {
  const ofResources = apiGroups.length * resources.length * Math.max(1, resourceNames.length)
  return verbs.length * (ofResources + nonResourceURLs.length)
}

function* singleRights(rule: PolicyRule): Generator<PolicyRule> {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const right = { verbs: [verb], apiGroups: [group], resources: [resource] }
        if (resourceNames.length === 0) yield right
        for (const name of resourceNames) yield { ...right, resourceNames: [name] }
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { verbs: [verb], nonResourceURLs: [url] }
}

const none: readonly string[] = []

function ruleCovers(held: PolicyRule, wanted: PolicyRule): boolean {
  if (!hasAll(held.verbs, wanted.verbs) && !held.verbs.includes('*')) return false
  const groups = held.apiGroups ?? none
  if (!hasAll(groups, wanted.apiGroups ?? none) && !groups.includes('*')) return false
  if (!resourcesCover(held.resources ?? none, wanted.resources ?? none)) return false
  if (!(wanted.nonResourceURLs ?? none).every((url) => urlsCover(held.nonResourceURLs ?? none, url))) return false
  const names = held.resourceNames ?? none
  if (names.length === 0) return true
  const wantedNames = wanted.resourceNames ?? none
  return wantedNames.length > 0 && hasAll(names, wantedNames)
}

function resourcesCover(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.includes('*')) return true
  return wanted.every((resource) => {
    if (held.includes(resource)) return true
    const slash = resource.indexOf('/')
    return slash !== -1 && held.includes(`*${resource.slice(slash)}`)
  })
}

/** A held path with a star covers everything that begins alike, patterns too. */
function urlsCover(held: readonly string[], wanted: string): boolean {
  return held.some((url) => url === wanted || (url.endsWith('*') && wanted.startsWith(url.replace(/\*+$/, ''))))
}

function hasAll(set: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((each) => set.includes(each))
}
