import { ApiError } from '@krmkit/meta'
import type { DeleteRequestOptions } from '@krmkit/registry'
import type { Expected } from '../encoding/body-type.ts'
import { bodyEncoding, decodeObject, readBytes } from '../encoding/request-body.ts'
import type { RequestContext } from '../request/context.ts'
import { flag, integer, text } from '../request/query.ts'
import type { RequestScope } from '../request/scope.ts'

/** Reads the options of a deletion from the body, or from the query when there is no body. @throws ApiError 400 */
export async function deleteOptions(scope: RequestScope, context: RequestContext): Promise<DeleteRequestOptions> {
  const { definition, responses, features } = scope
  const gvk = { group: definition.group, version: definition.version, kind: 'DeleteOptions' }
  const type = () => responses.types.struct('meta/v1.DeleteOptions')
  // Before 1.35, kube-apiserver answers with an internal error of the same text as since.
  const isMeta = features.release.atLeast('1.35')
  const expected: Expected = { gvk, type, fieldValidation: 'Ignore', anyGroup: true, unstored: true, isMeta }
  const bytes = await readBytes(scope, context, expected)
  context.span?.event('limitedReadBody succeeded', () => ({ len: bytes.byteLength }))
  if (bytes.byteLength === 0) return optionsFromQuery(context)
  const encoding = bodyEncoding(context, responses)
  const { object } = await decodeObject(scope, context, expected, { bytes, encoding })
  context.span?.event('Decoded delete options')
  return object as DeleteRequestOptions
}

function optionsFromQuery({ query }: RequestContext): DeleteRequestOptions {
  // Unlike other numeric parameters, an empty gracePeriodSeconds is malformed.
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
