import type { Attributes, Authorizer, Decision } from '@krmkit/authorization'
import {
  ApiError,
  goQuote,
  type LabelSelector,
  MetaError,
  type NamingProfile,
  nameRules,
  parseLabelSelector,
  stockProfile,
} from '@krmkit/meta'
import type { Filter, RequestContext } from '../request-context.ts'
import { requestSelectors } from '../request-selectors.ts'

/** Asks whether the caller may do that; @see API protocol specification, 5.9. */
export function authorization(authorizer: Authorizer, { apiDomain }: NamingProfile = stockProfile): Filter {
  const decisionKey = `authorization.${apiDomain}/decision`
  const reasonKey = `authorization.${apiDomain}/reason`
  return async (context, next) => {
    const attributes = attributesOf(context)
    const answer = authorizer.authorize(attributes)
    const decision = answer instanceof Promise ? await answer : answer
    if (context.auditLevel !== 'None') {
      context.annotations[decisionKey] = decision.decision === 'allow' ? 'allow' : 'forbid'
      context.annotations[reasonKey] = decision.reason
    }
    if (decision.decision !== 'allow') forbid(attributes, decision)
    return next()
  }
}

/** @throws ApiError 403 in the words of the stock server; 500 when there is no opinion because something failed. */
export async function requireAllowed(authorizer: Authorizer, attributes: Attributes): Promise<void> {
  const decision = await authorizer.authorize(attributes)
  if (decision.decision !== 'allow') forbid(attributes, decision)
}

function forbid(attributes: Attributes, { decision, reason, error }: Decision): never {
  if (error !== undefined && decision !== 'deny') throw ApiError.internalError(error)
  throw ApiError.forbidden(
    attributes.isResource ? { group: attributes.group, resource: attributes.resource } : { group: '', resource: '' },
    attributes.isResource ? attributes.name : '',
    forbiddenMessage(attributes) + (reason === '' ? '' : `: ${reason}`),
  )
}

/** What a request is about. A list or watch of one object by its name counts as asking for that object. */
export function attributesOf(context: RequestContext): Attributes {
  const { info, user, query } = context
  const { isResource, verb, group, version, resource, subresource, namespace, path } = info
  const plain = { user, verb, isResource, group, version, resource, subresource, namespace, name: info.name, path }
  if (!isResource || query.size === 0 || !collectionVerbs.has(verb)) return plain
  // What cannot be read is refused later, and until then asks for everything.
  const { fields, labels } = requestSelectors(context)
  const fieldSelector = fields instanceof MetaError ? undefined : fields?.requirements
  const labelSelector = labels === undefined || labels instanceof MetaError ? undefined : expressionsOf(labels)
  const named = fieldSelector?.find((each) => each.field === 'metadata.name' && each.operator === '=')?.value ?? ''
  const isName = plain.name === '' && verb !== 'deletecollection' && nameRules.pathSegment(named, false).length === 0
  return { ...plain, ...(isName ? { name: named } : {}), fieldSelector, labelSelector }
}

const collectionVerbs = new Set(['list', 'watch', 'deletecollection'])

/** A label selector as objects write it; undefined for what cannot be read. */
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
    const [name, listed] = operators[operator] ?? [operator, true]
    return { key, operator: name, ...(listed ? { values } : {}) }
  })
}

/** Operators as objects name them; the second says whether values follow. */
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

/** The sentence of a refusal, which tells who may not do what where. */
export function forbiddenMessage({ user, verb, isResource, group, resource, subresource, namespace, path }: Attributes): string {
  const who = `User ${goQuote(user.username)} cannot ${verb}`
  if (!isResource) return `${who} path ${goQuote(path)}`
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  const what = `${who} resource ${goQuote(whole)} in API group ${goQuote(group)}`
  return namespace === '' ? `${what} at the cluster scope` : `${what} in the namespace ${goQuote(namespace)}`
}
