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
/** A rule that is granted while a feature gate is on. */
export type GatedRule = { readonly gate: string; readonly rule: RuleShorthand }

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

/** Expands rules, omitting those whose gate is off. */
export function expandRules(lines: readonly (RuleShorthand | GatedRule)[], { profile, features }: RoleSettings): PolicyRule[] {
  return lines.flatMap((line) => {
    if (!('gate' in line)) return expandRule(line, profile)
    return gateEnabled(line.gate, features) ? expandRule(line.rule, profile) : []
  })
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
