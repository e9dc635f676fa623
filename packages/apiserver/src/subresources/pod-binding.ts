import type { Binding, Pod } from '@krmkit/kinds/core/v1'
import { bindPod, validateBinding } from '@krmkit/kinds/strategies'
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { uidConflict } from '@krmkit/registry'
import { successResponse } from '../encoding/status-response.ts'
import type { RequestContext } from '../request-context.ts'
import { negotiatedObjects, type RequestScope } from '../request-scope.ts'
import { admitOperation } from './operation.ts'

/**
 * POST to `pods/binding` or `bindings`: assigns a pod to a node.
 *
 * @throws ApiError 400, 404, 409 when the pod has a node or is terminating.
 */
export async function createBinding(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { clock, registry, responses } = scope
  const { namespace } = context.info
  const pods = registry.storeOf({ group: '', resource: 'pods' })
  if (pods === undefined) throw ApiError.genericNotFound()
  const representation = negotiatedObjects(scope, context)
  const { body: binding, write, admission } = await admitOperation<Binding>(scope, context)
  const bound = binding.metadata.name ?? ''
  const name = context.info.name || bound
  if (bound !== name) throw ApiError.badRequest('name in URL does not match name in Binding object')
  const errors = validateBinding(binding)
  if (errors.length > 0) throw ApiError.invalid({ group: '', kind: 'Binding' }, name, errors)
  await admission.validate(binding)
  if (name === '') throw ApiError.badRequest('Name parameter required.')
  const { metadata } = binding
  // Without a name in the path the request creates a Binding, which has no uid of the client's choice.
  const uid = context.info.name === '' ? '' : (metadata.uid ?? '')
  const { resourceVersion = '' } = metadata
  const target = { namespace, name, dryRun: write.dryRun }
  const change = (pod: DeepReadonly<Pod>) => {
    const found = pod.metadata
    if (uid !== '' && uid !== found.uid) throw uidConflict(pods.definition, { ...target, uid, found: found.uid })
    if (resourceVersion !== '' && resourceVersion !== found.resourceVersion)
      throw uidConflict(pods.definition, {
        ...target,
        what: 'ResourceVersion',
        uid: resourceVersion,
        found: found.resourceVersion,
      })
    return bindPod(pod, binding, clock.now())
  }
  await pods.updateStored(write, {
    namespace,
    name,
    subresource: 'binding',
    // A Binding is not a Pod: its user owns no field of the pod.
    managesFields: true,
    change: (pod) => change(pod as DeepReadonly<Pod>),
    skipAdmission: true,
  })
  return successResponse(responses, context, { code: 201 }, { code: 201, representation })
}
