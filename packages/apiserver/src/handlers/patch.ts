import type { DeepReadonly } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { requiredMembersOf } from '@krmkit/registry'
import type { TypeMeta } from '@krmkit/schema/decode'
import { storedResponse } from '../encoding/object-response.ts'
import { patchKind, readPatch } from '../encoding/patch-body.ts'
import type { PatchRequest } from '../encoding/patch-request.ts'
import { appliedConfiguration, patchedObject } from '../encoding/patched-object.ts'
import { attributesOf, requireAllowed } from '../filters/authorization.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiatedObjects, type RequestScope, requestedOptions } from '../request/scope.ts'
import { requireName } from './update.ts'
import { writeContext } from './write-context.ts'

/** PATCH of an object, or of a subresource of the same kind. @see API protocol specification, 4 and 4.7 */
export async function patchResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { definition, store } = scope
  const { kind: gvk } = definition
  const { namespace, name, subresource } = context.info
  const kind = patchKind(scope, context)
  requireName(name)
  const representation = negotiatedObjects(scope, context)
  const options = requestedOptions(scope, context, 'PatchOptions', kind === 'apply')
  const body = await readPatch(scope, context, { kind, fieldValidation: options.fieldValidation })
  const required = requiredMembersOf(definition, subresource)
  const patched = { gvk, type: gvk.type, namespaced: gvk.namespaced, required }
  const write = writeContext(context, options, { sent: body.sent })
  const onOtherType = (stated: TypeMeta) => {
    write.statedType = stated
  }
  const patch: PatchRequest = { scope, context, target: patched, body, options, onOtherType }
  const target = {
    namespace,
    name,
    subresource,
    mayCreate: () => requireAllowed(scope.authorizer, { ...attributesOf(context), verb: 'create' }),
  }
  const warned = context.warnings.length
  /** Each attempt decodes the result again; its warnings replace those of the previous attempt. */
  const attempt = <T>(decoded: () => T): T => {
    context.warnings.length = warned
    write.statedType = undefined
    context.span?.event('About to apply patch')
    return decoded()
  }
  const result = await (kind === 'apply'
    ? store.apply(write, {
        createMissing: subresource === '',
        force: options.force === true,
        configuration: (exists) => attempt(() => appliedConfiguration(patch, { exists })),
        ...target,
      })
    : store.update(write, {
        change: (current) => attempt(() => patchedObject(patch, current as DeepReadonly<object>)),
        ...target,
      }))
  context.span?.event('Object stored in database')
  return storedResponse(scope, context, result, { representation, status: result.created ? 201 : 200 })
}
