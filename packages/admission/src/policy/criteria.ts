import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, ObjectVersion } from '../interfaces.ts'
import { ruleCovers } from '../webhook/rule.ts'
import { isSelected } from '../webhook/selection.ts'
import type { Criteria, NamedRule } from './policy.ts'

/**
 * The form in which a request is matched; `undefined` when it is not.
 *
 * @throws ApiError when a namespace is missing whose labels are asked for.
 */
export function matchedForm(
  criteria: Criteria,
  object: DeepReadonly<ApiObject> | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): ObjectVersion | undefined {
  const { rules, excluded, equivalent } = criteria
  if (coveringForm(excluded, equivalent, attributes, context) !== undefined) return undefined
  const { resource, kind } = attributes
  const form = rules.length === 0 ? { resource, kind } : coveringForm(rules, equivalent, attributes, context)
  if (form === undefined) return undefined
  return isSelected(criteria, object, attributes, context) ? form : undefined
}

/** As it was asked for when a rule covers that; otherwise the first other version that a rule covers. */
function coveringForm(
  rules: readonly NamedRule[],
  equivalent: boolean,
  attributes: AdmissionAttributes,
  { convertor: forms }: AdmissionContext,
): ObjectVersion | undefined {
  const { resource, kind, subresource, name } = attributes
  const named = rules.filter(({ resourceNames }) => (resourceNames ?? []).length === 0 || resourceNames?.includes(name))
  if (named.some((rule) => ruleCovers(rule, attributes))) return { resource, kind }
  if (!equivalent || forms === undefined || named.length === 0) return undefined
  const others = forms.equivalents(resource, subresource)
  for (const rule of named) {
    for (const other of others) {
      const same = other.resource.group === resource.group && other.resource.version === resource.version
      if (!same && ruleCovers(rule, { ...attributes, resource: other.resource })) return other
    }
  }
  return undefined
}
