import type { Attributes, Authorizer, Decision } from '@krmkit/authorization'
import { whenDone } from '@krmkit/base/work'
import {
  ApiError,
  createFeatures,
  type Features,
  MetaError,
  type NamingProfile,
  nameRules,
  parseLabelSelector,
  stockProfile,
} from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote } from '@krmkit/meta/go-text'
import type { LabelSelector } from '@krmkit/meta/selectors'
import type { Filter, RequestContext } from '../request/context.ts'
import { requestSelectors } from '../request/selectors.ts'
import type { TraceStep } from '../request/trace.ts'

/** Rejects requests that the authorizer does not allow. @see API protocol specification, 5.9 */
export function authorization(
  authorizer: Authorizer,
  { apiDomain }: NamingProfile = stockProfile,
  features: Features = createFeatures(),
): Filter {
  const withSelectors = gateEnabled('AuthorizeWithSelectors', features)
  const decisionKey = `authorization.${apiDomain}/decision`
  const reasonKey = `authorization.${apiDomain}/reason`
  const enforce = (context: RequestContext, attributes: Attributes, decision: Decision): void => {
    context.request.trace?.({ step: 'authorized', decision } satisfies TraceStep)
    if (context.auditLevel !== 'None') {
      context.annotations[decisionKey] = decision.decision === 'allow' ? 'allow' : 'forbid'
      context.annotations[reasonKey] = decision.reason
    }
    if (decision.decision !== 'allow') forbid(attributes, decision, context)
  }
  return (context, next) => {
    const attributes = attributesOf(context, withSelectors)
    const response = whenDone(authorizer.authorize(attributes), (decision) => {
      enforce(context, attributes, decision)
      return next(context)
    })
    return Promise.resolve(response)
  }
}

/**
 * @param filtered the request, when a filter checks it: refusals by filters have an additional header
 * @throws ApiError 403 with the message of kube-apiserver; 500 when the authorizer failed and has no opinion.
 */
export async function requireAllowed(authorizer: Authorizer, attributes: Attributes, filtered?: RequestContext): Promise<void> {
  const decision = await authorizer.authorize(attributes)
  if (decision.decision !== 'allow') forbid(attributes, decision, filtered)
}

function forbid(attributes: Attributes, { decision, reason, error }: Decision, filtered: RequestContext | undefined): never {
  if (filtered !== undefined) filtered.responseHeaders = { ...filtered.responseHeaders, 'x-content-type-options': 'nosniff' }
  if (error !== undefined && decision !== 'deny') throw ApiError.internalError(error)
  throw forbidden(attributes, reason)
}

/** The 403 of a request with these attributes. */
export function forbidden(attributes: Attributes, reason: string): ApiError {
  return ApiError.forbidden(
    attributes.isResource ? { group: attributes.group, resource: attributes.resource } : { group: '', resource: '' },
    attributes.isResource ? attributes.name : '',
    withoutMarkup(forbiddenMessage(attributes)) + (reason === '' ? '' : `: ${reason}`),
  )
}

/** Escapes what a browser could take for HTML. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/**
 * The authorization attributes of a request. A list or watch that selects one object by name is authorized like a request for that object.
 *
 * @param withSelectors whether authorizers see the selectors: the feature gate `AuthorizeWithSelectors`
 */
export function attributesOf(context: RequestContext, withSelectors = true): Attributes {
  const { info, user, query } = context
  const { isResource, verb, group, version, resource, subresource, namespace, path } = info
  const plain = { user, verb, isResource, group, version, resource, subresource, namespace, name: info.name, path }
  if (!isResource || query.size === 0 || !collectionVerbs.has(verb)) return plain
  // A request with an invalid selector is rejected later; here it counts as unrestricted.
  const { fields, labels } = requestSelectors(context)
  const fieldSelector = fields instanceof MetaError ? undefined : fields?.requirements
  const labelSelector = labels === undefined || labels instanceof MetaError ? undefined : expressionsOf(labels)
  const named = fieldSelector?.find((each) => each.field === 'metadata.name' && each.operator === '=')?.value ?? ''
  const isName = plain.name === '' && verb !== 'deletecollection' && nameRules.pathSegment(named, false).length === 0
  const request = isName ? { ...plain, name: named } : plain
  return withSelectors ? { ...request, fieldSelector, labelSelector } : request
}

const collectionVerbs = new Set(['list', 'watch', 'deletecollection'])

/** The requirements of a label selector; undefined for an empty or invalid one. */
export function labelsOf(selector: string): Attributes['labelSelector'] {
  if (selector === '') return undefined
  try {
    return expressionsOf(parseLabelSelector(selector))
  } catch {
    return undefined
  }
}

function expressionsOf({ requirements }: LabelSelector): NonNullable<Attributes['labelSelector']> {
  return requirements.map(({ key, operator, values }) => {
    const [name, hasValues] = operators[operator] ?? [operator, true]
    return { key, operator: name, ...(hasValues ? { values } : {}) }
  })
}

/** Operators as named in objects, and whether they take values. */
const operators: Readonly<Record<string, readonly [string, boolean]>> = {
  '=': ['In', true],
  '==': ['In', true],
  in: ['In', true],
  '!=': ['NotIn', true],
  notin: ['NotIn', true],
  exists: ['Exists', false],
  '!': ['DoesNotExist', false],
  gt: ['Gt', true],
  lt: ['Lt', true],
}

/** The message of kube-apiserver: user, verb, resource and scope. */
export function forbiddenMessage({ user, verb, isResource, group, resource, subresource, namespace, path }: Attributes): string {
  const prefix = `User ${goQuote(user.username)} cannot ${verb}`
  if (!isResource) return `${prefix} path ${goQuote(path)}`
  const qualified = subresource === '' ? resource : `${resource}/${subresource}`
  const message = `${prefix} resource ${goQuote(qualified)} in API group ${goQuote(group)}`
  return namespace === '' ? `${message} at the cluster scope` : `${message} in the namespace ${goQuote(namespace)}`
}
