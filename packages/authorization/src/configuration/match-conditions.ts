import { aggregateMessages } from '@krmkit/meta/go-text'
import type { FieldRequirement } from '@krmkit/meta/selectors'
import type { Attributes, Authorizer, Decision } from '../interfaces.ts'
import type { CompiledMatchCondition, SelectorRequirement, SubjectAccessReviewSpec } from './interfaces.ts'

const noOpinion: Decision = Object.freeze({ decision: 'noOpinion', reason: '' })

export interface ConditionalAuthorizerOptions {
  readonly conditions: readonly CompiledMatchCondition[]
  readonly onError: 'deny' | 'noOpinion'
  /** Called after the conditions were evaluated for a request. */
  readonly onEvaluated?: (outcome: { readonly seconds: number; readonly excluded: boolean; readonly failed: boolean }) => void
}

/**
 * Consults an authorizer only for requests that meet all match conditions. A false condition skips the authorizer,
 * regardless of the other conditions. If none is false but one fails to evaluate, `onError` is the decision.
 */
export function createConditionalAuthorizer(inner: Authorizer, options: ConditionalAuthorizerOptions): Authorizer {
  const { conditions, onError, onEvaluated } = options
  if (conditions.length === 0) return inner
  return {
    async authorize(attributes) {
      const from = performance.now()
      const { excluded, errors } = await evaluateConditions(conditions, subjectAccessReviewSpec(attributes))
      onEvaluated?.({ seconds: (performance.now() - from) / 1000, excluded, failed: errors.length > 0 })
      if (excluded) return noOpinion
      if (errors.length === 0) return inner.authorize(attributes)
      return { decision: onError, reason: '', error: aggregateMessages(errors), trace: { authorizer: 'Webhook' } }
    },
    ...(inner.rulesFor === undefined ? {} : { rulesFor: (user, namespace) => inner.rulesFor!(user, namespace) }),
  }
}

/** Stops at the first condition that is false. */
async function evaluateConditions(conditions: readonly CompiledMatchCondition[], review: SubjectAccessReviewSpec) {
  const errors: string[] = []
  for (const condition of conditions) {
    const met = await condition.evaluate(review)
    if (met === false) return { excluded: true, errors }
    if (met !== true) errors.push(met.error)
  }
  return { excluded: false, errors }
}

/**
 * Returns the SubjectAccessReview spec of a request, the input of match conditions.
 *
 * @example
 * ```ts
 * import { subjectAccessReviewSpec } from '@krmkit/authorization/configuration'
 *
 * const names = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }
 * const user = { username: 'jane', groups: [] }
 * subjectAccessReviewSpec({ ...names, user, verb: 'get', isResource: false, path: '/metrics' })
 * // { user: 'jane', uid: '', groups: [], extra: {}, nonResourceAttributes: { path: '/metrics', verb: 'get' } }
 * ```
 */
export function subjectAccessReviewSpec(attributes: Attributes): SubjectAccessReviewSpec {
  const { user, isResource, verb, path, namespace, group, version, resource, subresource, name } = attributes
  const { fieldSelector = [], labelSelector = [] } = attributes
  const subject = { user: user.username, uid: user.uid ?? '', groups: user.groups, extra: user.extra ?? {} }
  if (!isResource) return { ...subject, nonResourceAttributes: { path, verb } }
  const fields = selectorRequirements(fieldSelector)
  const labels = labelSelector.map(({ key, operator, values }): SelectorRequirement => ({ key, operator, values: values ?? [] }))
  return {
    ...subject,
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

/** Converts the requirements of a field selector to the form of SubjectAccessReview. */
export function selectorRequirements(requirements: readonly FieldRequirement[]): SelectorRequirement[] {
  return requirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }))
}
