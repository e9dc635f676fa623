/**
 * A shorthand for rules: space-separated words, which are expanded in the sort order of kube-apiserver. Groups are written
 * without the API domain; `core` is the core group.
 */

import type { Features, NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { PolicyRule } from '../interfaces.ts'

/** Verbs, groups, resources, and optionally resource names. */
export type ResourceShorthand = readonly [verbs: string, groups: string, resources: string, names?: string]
/** Verbs and non-resource paths. */
export type PathShorthand = readonly [verbs: string, paths: string]
export type RuleShorthand = ResourceShorthand | PathShorthand
/** When a rule or role exists. */
export interface Conditions {
  /** Feature gates that must all be on, separated by spaces. */
  readonly gates?: string
  /** First release with it. */
  readonly since?: string
  /** First release without it. */
  readonly removed?: string
}

/** A rule that is granted under conditions. */
export interface ConditionalRule extends Conditions {
  readonly rule: RuleShorthand
  /** Whether the paths are added to those of the rule before. */
  readonly joins?: true
}

export type RuleLine = RuleShorthand | ConditionalRule

/** Settings of default roles: features and names. */
export interface RoleSettings {
  readonly profile: NamingProfile
  /** Features that determine the rules and roles. */
  readonly features: Features
}

export const read = 'get list watch'
export const write = 'create delete deletecollection patch update'
export const readWrite = `${read} ${write}`

/** The permission to write core and events.k8s.io events. */
export const events: ResourceShorthand = ['create patch update', 'core events', 'events']

/** Groups whose full name has no API domain. */
const plainGroups = new Set(['apps', 'autoscaling', 'batch', 'extensions', 'policy', '*'])

/** Rules that are granted under the same conditions. */
export function when(conditions: Conditions, ...rules: RuleShorthand[]): ConditionalRule[] {
  return rules.map((rule) => ({ ...conditions, rule }))
}

/** A rule that a release replaces with another one. */
export function changed(release: string, before: RuleShorthand, after: RuleShorthand): ConditionalRule[] {
  return [...when({ removed: release }, before), ...when({ since: release }, after)]
}

/** Whether the release and the feature gates meet the conditions. */
export function applies({ gates, since, removed }: Conditions, features: Features): boolean {
  const { release } = features
  if (since !== undefined && !release.atLeast(since)) return false
  if (removed !== undefined && release.atLeast(removed)) return false
  return gates === undefined || gates.split(' ').every((gate) => gateEnabled(gate, features))
}

/** Expands rules, omitting those whose conditions are not met. */
export function expandRules(lines: readonly RuleLine[], { profile, features }: RoleSettings): PolicyRule[] {
  const rules: PolicyRule[] = []
  for (const line of lines) {
    const { rule, joins, ...conditions }: ConditionalRule = 'rule' in line ? line : { rule: line }
    if (!applies(conditions, features)) continue
    const expanded = expandRule(rule, profile)
    const previous = joins === true ? rules.pop() : undefined
    const paths = [...(previous?.nonResourceURLs ?? []), ...(expanded.nonResourceURLs ?? [])].sort()
    rules.push(previous === undefined ? expanded : { ...previous, nonResourceURLs: paths })
  }
  return rules
}

function expandRule(line: RuleShorthand, { apiDomain, domain }: NamingProfile): PolicyRule {
  if (line.length === 2) return { verbs: sortedWords(line[0]), nonResourceURLs: sortedWords(line[1]) }
  const [verbs, groups, resources, names] = line
  const group = (word: string) => (word === 'core' ? '' : plainGroups.has(word) ? word : `${word}.${apiDomain}`)
  return {
    verbs: sortedWords(verbs),
    apiGroups: sortedWords(groups).map(group).sort(),
    resources: sortedWords(resources),
    ...(names === undefined ? {} : { resourceNames: sortedWords(names.replaceAll('<domain>', domain)) }),
  }
}

function sortedWords(text: string): string[] {
  return text.split(' ').sort()
}
