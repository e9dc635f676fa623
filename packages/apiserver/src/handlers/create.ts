import type { KindInfo } from '@krmkit/kinds'
import { ApiError, type ApiObject, field, Path } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { dropRepeatedOwners, requiredMembersOf, type WriteContext } from '@krmkit/registry'
import { readCreation } from '../encoding/creation.ts'
import { storedResponse } from '../encoding/object-response.ts'
import { sentFloats } from '../encoding/sent-floats.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiatedObjects, type RequestScope } from '../request/scope.ts'
import { writeContext } from './write-context.ts'

/** POST to a collection. @see API protocol specification, 4 */
export async function createResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { definition, store } = scope
  const representation = negotiatedObjects(scope, context)
  let statedType: WriteContext['statedType']
  const { options, decoded, body } = await readCreation(scope, context, {
    gvk: definition.kind,
    type: definition.kind.type,
    keepEmpties: definition.strategy.distinctEmpties,
    required: requiredMembersOf(definition, ''),
    versions: definition.custom?.kinds,
    onOtherKind(stated) {
      statedType = stated
    },
  })
  const { kind } = definition
  if (kind.namespaced && context.info.namespace === '') throw withoutNamespace(kind, decoded.object)
  const floats = sentFloats(scope, body)
  const sent = await floats
  const write = writeContext(context, options, { sent, statedType })
  dropRepeatedOwners(decoded.object, { warn: write.warn, afterAdmission: false })
  context.span?.event('About to store object in database')
  const stored = await store.create(write, { namespace: context.info.namespace, ...decoded })
  context.span?.event('Write to database call succeeded')
  return storedResponse(scope, context, stored, { representation, status: 201 })
}

function withoutNamespace(kind: KindInfo, { metadata: { name = '', generateName = '' } }: ApiObject): ApiError {
  const at = Path.of('metadata')
  const isUnnamed = name === '' && generateName === ''
  return ApiError.invalid(kind, name, [
    ...(isUnnamed ? [field.required(at.child('name'), 'name or generateName is required')] : []),
    field.required(at.child('namespace'), ''),
  ])
}
