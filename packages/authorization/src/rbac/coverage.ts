/** Whether the rules that somebody holds cover others: nobody may hand out more than they have. */

import { runAtOnce } from '@krmkit/meta'
import type { PolicyRule } from '../interfaces.ts'
import { describeRule } from './describe.ts'

export type Coverage =
  | { readonly outcome: 'covered' }
  | { readonly outcome: 'uncovered'; readonly missing: readonly PolicyRule[] }
  /** The rules say too many combinations to look at. */
  | { readonly outcome: 'tooMany' }

/** Comparisons of rights with held rules; a request that needs more is refused. */
const maxComparisons = 2_000_000
/** Missing rights that are told. */
const maxMissing = 1000
/** Rules with more single rights are first looked for as a whole. */
const wholeRuleThreshold = 100
/** Held rules with more single rights are not filed by them. */
const maxIndexedRights = 1000

/**
 * Takes rules apart into single rights (one verb on one resource by one name) and looks for a held rule that covers each.
 *
 * Differs: the stock server has no bound; here rules with very many combinations are refused, since a request must not hold up all others.
 */
export function covers(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Coverage {
  return runAtOnce(coverage(held, wanted))
}

/** The same, to be interrupted. */
export function* coverage(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Generator<void, Coverage> {
  const rules = new RuleIndex(held)
  const missing: PolicyRule[] = []
  let left = maxComparisons
  for (const rule of wanted) {
    yield
    const rights = combinations(rule)
    if (rights > wholeRuleThreshold) {
      left -= rules.all.length * elements(rule)
      if (left < 0) return { outcome: 'tooMany' }
      if (yield* rules.coverWhole(rule)) continue
    }
    left -= rights
    if (left < 0) return { outcome: 'tooMany' }
    for (const right of singleRights(rule)) {
      yield
      const candidates = rules.candidates(right)
      left -= candidates.reduce((sum, list) => sum + list.length, 0)
      if (right.nonResourceURLs !== undefined) left -= rules.beginnings
      if (left < 0) return { outcome: 'tooMany' }
      if (candidates.some((list) => list.some((each) => ruleCovers(each, right)))) continue
      missing.push(right)
      if (missing.length === maxMissing) return { outcome: 'uncovered', missing }
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

function elements({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): number {
  return verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length
}

/** A rule that a user holds, as sets. */
interface RuleSets {
  readonly verbs: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  readonly resources: ReadonlySet<string>
  readonly urls: ReadonlySet<string>
  /** Beginnings of paths: a held path with a star covers everything that begins alike, patterns too. */
  readonly beginnings: readonly string[]
  /** Empty: all. */
  readonly names: ReadonlySet<string>
}

/** Held rules by the verb, group, resource and name that they allow. */
class RuleIndex {
  readonly all: readonly RuleSets[]
  readonly #filed = new Map<string, RuleSets[]>()
  readonly #wide: RuleSets[] = []
  readonly #withUrls: readonly RuleSets[]
  /** How many beginnings of paths there are. */
  readonly beginnings: number

  constructor(rules: readonly PolicyRule[]) {
    this.all = rules.map(ruleSetsOf)
    this.#withUrls = this.all.filter(({ urls }) => urls.size > 0)
    this.beginnings = this.#withUrls.reduce((sum, { beginnings }) => sum + beginnings.length, 0)
    for (const rule of this.all) this.#file(rule)
  }

  /** The rules that may cover a single right, in a few lists. */
  candidates({
    verbs: [verb = ''],
    apiGroups: [group = ''] = [],
    resources: [resource] = [],
    resourceNames: [name] = [],
  }: PolicyRule): readonly (readonly RuleSets[])[] {
    if (resource === undefined) return [this.#withUrls]
    const found: (readonly RuleSets[])[] = [this.#wide]
    const slash = resource.indexOf('/')
    const resources = new Set(['*', resource, ...(slash === -1 ? [] : [`*${resource.slice(slash)}`])])
    const places = [...resources].flatMap((each) => [...new Set([group, '*'])].map((within) => [within, each] as const))
    for (const [within, each] of places) {
      for (const allowed of new Set([verb, '*'])) {
        for (const named of name === undefined ? [undefined] : [undefined, name]) {
          const list = this.#filed.get(indexKey([allowed, within, each], named))
          if (list !== undefined) found.push(list)
        }
      }
    }
    return found
  }

  #file(rule: RuleSets): void {
    const { verbs, groups, resources, names } = rule
    if (verbs.size * groups.size * resources.size * Math.max(1, names.size) > maxIndexedRights) {
      this.#wide.push(rule)
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
    const list = this.#filed.get(key)
    if (list === undefined) this.#filed.set(key, [rule])
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

/** No name: all. */
function indexKey(right: readonly [verb: string, group: string, resource: string], name: string | undefined): string {
  return `${right.join('\0')}${name === undefined ? '' : `\0${name}`}`
}

function ruleSetsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs = [] }: PolicyRule): RuleSets {
  return {
    verbs: new Set(verbs),
    groups: new Set(apiGroups),
    resources: new Set(resources),
    urls: new Set(nonResourceURLs),
    beginnings: nonResourceURLs.filter((url) => url.endsWith('*')).map((url) => url.replace(/\*+$/, '')),
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

function urlsCover({ urls, beginnings }: RuleSets, wanted: string): boolean {
  return urls.has(wanted) || beginnings.some((beginning) => wanted.startsWith(beginning))
}

function hasAll(set: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return wanted.every((each) => set.has(each))
}
