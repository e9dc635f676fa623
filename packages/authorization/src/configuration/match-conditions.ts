import type { Attributes, Authorizer, Decision } from '../interfaces.ts'
import type { MatchCondition, SelectorRequirement, SubjectAccessReviewSpec } from './interfaces.ts'

const noOpinion: Decision = Object.freeze({ decision: 'noOpinion', reason: '' })

/**
 * Asks an authorizer only about what meets all conditions. One that is false is enough to leave it out, whatever happens to
 * the others; else one that cannot be evaluated decides by `onError`.
 */
export function createConditionalAuthorizer(
  inner: Authorizer,
  options: { readonly conditions: readonly MatchCondition[]; readonly onError: 'deny' | 'noOpinion' },
): Authorizer {
  const { conditions, onError } = options
  if (conditions.length === 0) return inner
  return {
    authorize(attributes) {
      const errors: string[] = []
      const review = subjectAccessReviewSpec(attributes)
      for (const condition of conditions) {
        const met = condition.evaluate(review)
        if (met === false) return noOpinion
        if (met !== true) errors.push(met.error)
      }
      if (errors.length === 0) return inner.authorize(attributes)
      const unique = [...new Set(errors)]
      const error = unique.length === 1 ? unique[0] : `[${unique.join(', ')}]`
      return { decision: onError, reason: '', error, trace: { authorizer: 'Webhook' } }
    },
    ...(inner.rulesFor === undefined ? {} : { rulesFor: (user, namespace) => inner.rulesFor!(user, namespace) }),
  }
}

/** What is asked, as conditions see it. */
export function subjectAccessReviewSpec(attributes: Attributes): SubjectAccessReviewSpec {
  const { user, isResource, verb, path, namespace, group, version, resource, subresource, name } = attributes
  const { fieldSelector = [], labelSelector = [] } = attributes
  const who = { user: user.username, uid: user.uid ?? '', groups: user.groups, extra: user.extra ?? {} }
  if (!isResource) return { ...who, nonResourceAttributes: { path, verb } }
  const fields = fieldSelector.map(({ field: key, operator, value }): SelectorRequirement => {
    return { key, operator: operator === '=' ? 'In' : 'NotIn', values: [value] }
  })
  const labels = labelSelector.map(({ key, operator, values }): SelectorRequirement => ({ key, operator, values: values ?? [] }))
  return {
    ...who,
    resourceAttributes: {
      namespace,
      verb,
      group,
      version,
      resource,
      subresource,
      name,
      ...(fields.length === 0 ? {} : { fieldSelector: { requirements: fields } }),
      ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
    },
  }
}
