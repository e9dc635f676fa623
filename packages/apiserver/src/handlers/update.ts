import { ApiError, type ApiObject } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { dropRepeatedOwners, requiredMembersOf, type WriteContext } from '@krmkit/registry'
import { storedResponse } from '../encoding/object-response.ts'
import { bodyEncoding, decodeObject, type SizedObject } from '../encoding/request-body.ts'
import { sentFloats } from '../encoding/sent-floats.ts'
import { attributesOf, requireAllowed } from '../filters/authorization.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiatedObjects, type RequestScope, requestedOptions } from '../request/scope.ts'
import { writeContext } from './write-context.ts'

/** PUT of an object, or of a subresource of the same kind. */
export async function updateResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { definition, store } = scope
  const { namespace, name, subresource } = context.info
  requireName(name)
  const representation = negotiatedObjects(scope, context)
  const options = requestedOptions(scope, context, 'UpdateOptions')
  let statedType: WriteContext['statedType']
  const expected = {
    gvk: definition.kind,
    type: definition.kind.type,
    fieldValidation: options.fieldValidation,
    keepEmpties: definition.strategy.distinctEmpties,
    required: requiredMembersOf(definition, subresource),
    versions: definition.custom?.kinds,
    onOtherKind(stated: WriteContext['statedType']) {
      statedType = stated
    },
  }
  const encoding = bodyEncoding(context, scope.responses)
  const bytes = await context.request.body(scope.limits.bodyBytes)
  context.span?.event('limitedReadBody succeeded', () => ({ len: bytes.byteLength }))
  context.span?.event('About to convert to expected version')
  const decoded = await decodeObject(scope, context, expected, { bytes, encoding })
  context.span?.event('Conversion done')
  checkIdentity(decoded.object, name, namespace, definition.kind.namespaced)
  const floats = sentFloats(scope, { bytes, encoding })
  const sent = await floats
  const write = writeContext(context, options, { sent, statedType })
  dropRepeatedOwners(decoded.object, { warn: write.warn, afterAdmission: false })
  let first: SizedObject | undefined = decoded
  context.span?.event('About to store object in database')
  const result = await store.update(write, {
    namespace,
    name,
    subresource,
    uid: decoded.object.metadata.uid ?? '',
    createMissing: subresource === '' && definition.strategy.allowCreateOnUpdate === true,
    mayCreate: () => requireAllowed(scope.authorizer, { ...attributesOf(context), verb: 'create' }),
    // Each further attempt decodes the body again, because the store mutates the object.
    change() {
      const next = first ?? decodeObject(scope, context, expected, { bytes, encoding })
      first = undefined
      return next
    },
  })
  context.span?.event('Write to database call succeeded')
  return storedResponse(scope, context, result, { representation, status: result.created ? 201 : 200 })
}

/** Refuses a PUT or PATCH of a collection of custom resources: their paths accept all methods. @throws ApiError 400 */
export function requireName(name: string): void {
  if (name === '') throw ApiError.badRequest('name must be provided')
}

/** @throws ApiError 400 when the body names another object than the path. */
export function checkIdentity(object: ApiObject, name: string, namespace: string, namespaced: boolean): void {
  const other = object.metadata?.namespace ?? ''
  if (namespaced && other !== '' && other !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  const given = object.metadata?.name ?? ''
  if (given === '')
    throw ApiError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (given !== name) throw ApiError.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
}
