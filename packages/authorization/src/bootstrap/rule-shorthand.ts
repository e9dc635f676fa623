/**
 * Rules as short lines of data: words with spaces between, sorted as the stock server sorts them. Groups are written without the API
 * domain; `core` is the core group.
 */

import type { NamingProfile } from '@krmkit/meta'
import type { PolicyRule } from '../interfaces.ts'

/** Verbs, groups, resources and, where only some objects are meant, their names. */
export type ResourceLine = readonly [verbs: string, groups: string, resources: string, names?: string]
/** Paths that are no resources. */
export type PathLine = readonly [verbs: string, paths: string]
export type RuleLine = ResourceLine | PathLine

export const read = 'get list watch'
export const write = 'create delete deletecollection patch update'
export const readWrite = `${read} ${write}`

/** Events of old and new form. */
export const events: ResourceLine = ['create patch update', 'core events', 'events']

/** Groups that have no domain. */
const plainGroups = new Set(['apps', 'autoscaling', 'batch', 'extensions', 'policy', '*'])

export function rulesOf(lines: readonly RuleLine[], profile: NamingProfile): PolicyRule[] {
  return lines.map((line) => ruleOf(line, profile))
}

function ruleOf(line: RuleLine, { apiDomain, domain }: NamingProfile): PolicyRule {
  if (line.length === 2) return { verbs: words(line[0]), nonResourceURLs: words(line[1]) }
  const [verbs, groups, resources, names] = line
  const group = (word: string) => (word === 'core' ? '' : plainGroups.has(word) ? word : `${word}.${apiDomain}`)
  return {
    verbs: words(verbs),
    apiGroups: words(groups).map(group).sort(),
    resources: words(resources),
    ...(names === undefined ? {} : { resourceNames: words(names.replaceAll('<domain>', domain)) }),
  }
}

function words(text: string): string[] {
  return text.split(' ').sort()
}
