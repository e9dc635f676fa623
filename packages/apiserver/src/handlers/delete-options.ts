import { ApiError } from '@krmkit/meta'
import { type DeleteRequestOptions, validateDeleteOptions } from '@krmkit/registry'
import type { Expected } from '../encoding/body-type.ts'
import { bodyEncoding, decodeObject, readBytes } from '../encoding/request-body.ts'
import { flag, integer, type Query, text } from '../query.ts'
import type { RequestContext } from '../request-context.ts'
import type { RequestScope } from '../request-scope.ts'

/**
 * Options of a deletion: those of the body, and those of the query that the body omits. A dry run named in either place holds.
 *
 * Differs: on the stock server a body replaces the query, so that a deletion with `dryRun=All` in the query is carried out.
 *
 * @throws ApiError 400; 422 for invalid options of the query.
 */
export async function deleteOptions(scope: RequestScope, context: RequestContext): Promise<DeleteRequestOptions> {
  const { definition, responses } = scope
  const gvk = { group: definition.group, version: definition.version, kind: 'DeleteOptions' }
  const type = () => responses.types.struct('meta/v1.DeleteOptions')
  const expected: Expected = { gvk, type, fieldValidation: 'Ignore', anyGroup: true, unstored: true }
  const bytes = await readBytes(scope, context, expected)
  context.span?.event('limitedReadBody succeeded', () => ({ len: bytes.byteLength }))
  if (bytes.byteLength === 0) return optionsFromQuery(context.query)
  const encoding = bodyEncoding(context, responses)
  const { object } = await decodeObject(scope, context, expected, { bytes, encoding })
  context.span?.event('Decoded delete options')
  const ofQuery = optionsFromQuery(besidesBody(context))
  validateDeleteOptions(ofQuery, scope.profile)
  return merged(object as DeleteRequestOptions, ofQuery)
}

/** The query of a request with a body. The resourceVersion of a deletecollection is that of the list there, not a precondition. */
function besidesBody({ query, info }: RequestContext): Query {
  if (info.verb !== 'deletecollection' || !query.has('resourceVersion')) return query
  return new Map([...query].filter(([name]) => name !== 'resourceVersion'))
}

/** `propagationPolicy` and its predecessor `orphanDependents` are one option. */
function merged(body: DeleteRequestOptions, ofQuery: DeleteRequestOptions): DeleteRequestOptions {
  const { propagationPolicy, orphanDependents, ...others } = ofQuery
  const namesPropagation = body.propagationPolicy !== undefined || body.orphanDependents !== undefined
  const dryRun = (body.dryRun ?? []).length > 0 ? body.dryRun : ofQuery.dryRun
  const preconditions = { ...ofQuery.preconditions, ...body.preconditions }
  return {
    ...(namesPropagation ? others : ofQuery),
    ...body,
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(dryRun === undefined ? {} : { dryRun }),
  }
}

function optionsFromQuery(query: Query): DeleteRequestOptions {
  // Unlike in other parameters, an empty number is malformed.
  if (text(query, 'gracePeriodSeconds') === '') throw ApiError.badRequest('strconv.ParseInt: parsing "": invalid syntax')
  const gracePeriodSeconds = integer(query, 'gracePeriodSeconds')
  const propagationPolicy = text(query, 'propagationPolicy')
  const dryRun = (query.get('dryRun') ?? []).filter((word) => word !== '')
  const { uid = '', resourceVersion = '' } = { uid: text(query, 'uid'), resourceVersion: text(query, 'resourceVersion') }
  const preconditions = { ...(uid === '' ? {} : { uid }), ...(resourceVersion === '' ? {} : { resourceVersion }) }
  return {
    ...(uid === '' && resourceVersion === '' ? {} : { preconditions }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(query.has('orphanDependents') ? { orphanDependents: flag(query, 'orphanDependents') } : {}),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  }
}
