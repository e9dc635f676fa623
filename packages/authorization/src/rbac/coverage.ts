/** Rule coverage: whether the rules held by a user include the rules that the user wants to grant. */

import { runAtOnce } from '@krmkit/base/work'
import { trimRight } from '@krmkit/meta/go-text'
import type { PolicyRule } from '../interfaces.ts'
import { describeRule } from './describe.ts'

export type Coverage =
  | { readonly outcome: 'covered' }
  | { readonly outcome: 'uncovered'; readonly missing: readonly PolicyRule[] }
  /** The rules have too many combinations to check. */
  | { readonly outcome: 'tooMany' }

/** Maximum number of comparisons per check. */
const maxComparisons = 2_000_000
/** Maximum number of missing rules that are reported. */
const maxMissing = 1000
/** Rules with more combinations than this are first compared as a whole. */
const wholeRuleThreshold = 100
/** Held rules with more combinations than this are not indexed. */
const maxIndexedRights = 1000

/**
 * Breaks `wanted` down into single permissions (one verb, resource and name) and finds a held rule that covers each.
 *
 * Differs: kube-apiserver has no limit; here rules with too many combinations are `tooMany`, so that no request blocks the event loop.
 */
export function covers(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Coverage {
  return runAtOnce(coverage(held, wanted))
}

/** Pausable form of `covers`. */
export function* coverage(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Generator<void, Coverage> {
  const rules = new RuleIndex(held)
  const missing: PolicyRule[] = []
  let left = maxComparisons
  for (const rule of wanted) {
    yield
    const count = combinations(rule)
    if (count > wholeRuleThreshold) {
      left -= rules.all.length * elements(rule)
      if (left < 0) return { outcome: 'tooMany' }
      if (yield* rules.coverWhole(rule)) continue
    }
    left -= count
    if (left < 0) return { outcome: 'tooMany' }
    for (const right of singleRights(rule)) {
      yield
      const candidates = rules.candidates(right)
      left -= candidates.reduce((sum, list) => sum + list.length, 0)
      if (right.nonResourceURLs !== undefined) left -= rules.prefixes
      if (left < 0) return { outcome: 'tooMany' }
      if (candidates.some((list) => list.some((each) => ruleCovers(each, right)))) continue
      missing.push(right)
      if (missing.length === maxMissing) return { outcome: 'uncovered', missing }
    }
  }
  return missing.length === 0 ? { outcome: 'covered' } : { outcome: 'uncovered', missing }
}

/** Formats missing rules: verbs of one resource are joined; lines are sorted and unique. */
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

function elements({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): number {
  return verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length
}

/** A held rule as sets. */
interface RuleSets {
  readonly verbs: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  readonly resources: ReadonlySet<string>
  readonly urls: ReadonlySet<string>
  /** Prefixes of path patterns that end in `*`; a prefix covers paths and patterns that start with it. */
  readonly prefixes: readonly string[]
  /** Resource names; empty for all names. */
  readonly names: ReadonlySet<string>
}

/** Held rules by verb, group, resource and name. */
class RuleIndex {
  readonly all: readonly RuleSets[]
  readonly #indexed = new Map<string, RuleSets[]>()
  readonly #unindexed: RuleSets[] = []
  readonly #withUrls: readonly RuleSets[]
  /** Total number of path prefixes. */
  readonly prefixes: number

  constructor(rules: readonly PolicyRule[]) {
    this.all = rules.map(ruleSetsOf)
    this.#withUrls = this.all.filter(({ urls }) => urls.size > 0)
    this.prefixes = this.#withUrls.reduce((sum, { prefixes }) => sum + prefixes.length, 0)
    for (const rule of this.all) this.#add(rule)
  }

  /** Returns the rules that may cover a single permission, as a few lists. */
  candidates({
    verbs: [verb = ''],
    apiGroups: [group = ''] = [],
    resources: [resource] = [],
    resourceNames: [name] = [],
  }: PolicyRule): readonly (readonly RuleSets[])[] {
    if (resource === undefined) return [this.#withUrls]
    const found: (readonly RuleSets[])[] = [this.#unindexed]
    const slash = resource.indexOf('/')
    const resources = new Set(['*', resource, ...(slash === -1 ? [] : [`*${resource.slice(slash)}`])])
    const scopes = [...resources].flatMap((each) => [...new Set([group, '*'])].map((within) => [within, each] as const))
    for (const [within, each] of scopes) {
      for (const allowed of new Set([verb, '*'])) {
        for (const named of name === undefined ? [undefined] : [undefined, name]) {
          const list = this.#indexed.get(indexKey([allowed, within, each], named))
          if (list !== undefined) found.push(list)
        }
      }
    }
    return found
  }

  #add(rule: RuleSets): void {
    const { verbs, groups, resources, names } = rule
    if (verbs.size * groups.size * resources.size * Math.max(1, names.size) > maxIndexedRights) {
      this.#unindexed.push(rule)
      return
    }
    for (const verb of verbs) {
      for (const group of groups) {
        for (const resource of resources) {
          for (const name of names.size === 0 ? [undefined] : names) this.#put(indexKey([verb, group, resource], name), rule)
        }
      }
    }
  }

  #put(key: string, rule: RuleSets): void {
    const list = this.#indexed.get(key)
    if (list === undefined) this.#indexed.set(key, [rule])
    else list.push(rule)
  }

  *coverWhole(wanted: PolicyRule): Generator<void, boolean> {
    for (const rule of this.all) {
      if (ruleCovers(rule, wanted)) return true
      yield
    }
    return false
  }
}

/** Builds an index key. Without a name it stands for all names. */
function indexKey(right: readonly [verb: string, group: string, resource: string], name: string | undefined): string {
  return `${right.join('\0')}${name === undefined ? '' : `\0${name}`}`
}

function ruleSetsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs = [] }: PolicyRule): RuleSets {
  return {
    verbs: new Set(verbs),
    groups: new Set(apiGroups),
    resources: new Set(resources),
    urls: new Set(nonResourceURLs),
    prefixes: nonResourceURLs.filter((url) => url.endsWith('*')).map((url) => trimRight(url, '*')),
    names: new Set(resourceNames),
  }
}

const none: readonly string[] = []

function ruleCovers(held: RuleSets, wanted: PolicyRule): boolean {
  if (!held.verbs.has('*') && !hasAll(held.verbs, wanted.verbs)) return false
  if (!held.groups.has('*') && !hasAll(held.groups, wanted.apiGroups ?? none)) return false
  if (!resourcesCover(held.resources, wanted.resources ?? none)) return false
  if (!(wanted.nonResourceURLs ?? none).every((url) => urlsCover(held, url))) return false
  if (held.names.size === 0) return true
  const wantedNames = wanted.resourceNames ?? none
  return wantedNames.length > 0 && hasAll(held.names, wantedNames)
}

function resourcesCover(held: ReadonlySet<string>, wanted: readonly string[]): boolean {
  if (held.has('*')) return true
  return wanted.every((resource) => {
    if (held.has(resource)) return true
    const slash = resource.indexOf('/')
    return slash !== -1 && held.has(`*${resource.slice(slash)}`)
  })
}

function urlsCover({ urls, prefixes }: RuleSets, wanted: string): boolean {
  return urls.has(wanted) || prefixes.some((prefix) => wanted.startsWith(prefix))
}

function hasAll(set: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return wanted.every((each) => set.has(each))
}
