import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, ObjectVersion } from '../interfaces.ts'
import { matchedVersion } from '../webhook/matched-version.ts'
import { matchesSelectors } from '../webhook/selector-matcher.ts'
import type { MatchCriteria, NamedRule } from './policy.ts'

/**
 * The version in which the criteria of a policy or binding match a request; undefined when they do not match.
 *
 * @throws ApiError when the labels of a missing namespace are needed.
 */
export function versionByCriteria(
  criteria: MatchCriteria,
  object: DeepReadonly<ApiObject> | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): ObjectVersion | undefined {
  const { rules, excluded, equivalent } = criteria
  const options = { equivalent, versionConverter: context.versionConverter }
  if (matchedVersion(named(excluded, attributes), attributes, options) !== undefined) return undefined
  const { resource, kind } = attributes
  const version = rules.length === 0 ? { resource, kind } : matchedVersion(named(rules, attributes), attributes, options)
  if (version === undefined) return undefined
  return matchesSelectors(criteria, object, attributes, context) ? version : undefined
}

/** The rules that name the object, or no object. */
function named(rules: readonly NamedRule[], { name }: AdmissionAttributes): readonly NamedRule[] {
  return rules.filter(({ resourceNames }) => (resourceNames ?? []).length === 0 || resourceNames?.includes(name))
}
