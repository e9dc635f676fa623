import type { AdmissionAttributes, ObjectVersion, VersionConverter } from '../interfaces.ts'
import { type Rule, ruleMatches } from './rule.ts'

/**
 * The version in which rules match a request: the request's own version, or with match policy `Equivalent` the first other served
 * version that a rule names; undefined when no rule matches.
 *
 * @see API protocol specification, 2.9
 */
export function matchedVersion(
  rules: readonly Rule[],
  attributes: AdmissionAttributes,
  { equivalent, versionConverter }: { readonly equivalent: boolean; readonly versionConverter: VersionConverter | undefined },
): ObjectVersion | undefined {
  const { resource, kind, subresource } = attributes
  if (rules.some((rule) => ruleMatches(rule, attributes))) return { resource, kind }
  if (!equivalent || versionConverter === undefined || rules.length === 0) return undefined
  const versions = versionConverter.equivalents(resource, subresource)
  for (const rule of rules) {
    for (const other of versions) {
      const isOwn = other.resource.group === resource.group && other.resource.version === resource.version
      if (!isOwn && ruleMatches(rule, { ...attributes, resource: other.resource })) return other
    }
  }
  return undefined
}
