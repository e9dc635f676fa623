import type { ResourceDefinition } from '@krmkit/kinds'
import type { Binding, Pod } from '@krmkit/kinds/core/v1'
import { bindPod, validateBinding } from '@krmkit/kinds/strategies'
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { ApiResponse } from '@krmkit/protocol'
import { uidConflict, versionConflict } from '@krmkit/registry'
import { successResponse } from '../encoding/status-response.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiatedObjects, type RequestScope } from '../request/scope.ts'
import { admitOperation } from './operation.ts'

/**
 * POST to `pods/binding` or `bindings`: assigns a pod to a node.
 *
 * @throws ApiError 400, 404, 409 when the pod has a node or is terminating.
 */
export async function createBinding(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { responses } = scope
  const { namespace } = context.info
  const pods = scope.registry.storeOf({ group: '', resource: 'pods' })
  if (pods === undefined) throw ApiError.genericNotFound()
  const representation = negotiatedObjects(scope, context)
  const { body: binding, write, admission } = await admitOperation<Binding>(scope, context)
  const bound = binding.metadata.name ?? ''
  const name = context.info.name || bound
  if (bound !== name) throw ApiError.badRequest('name in URL does not match name in Binding object')
  const errors = validateBinding(binding)
  if (errors.length > 0) throw ApiError.invalid({ group: '', kind: 'Binding' }, name, errors, scope.features)
  await admission.validate(binding)
  if (name === '') throw ApiError.badRequest('Name parameter required.')
  const target = { namespace, name }
  const options = {
    copyLabels: gateEnabled('PodTopologyLabelsAdmission', scope.features),
    clearNominatedNode: gateEnabled('ClearingNominatedNodeNameAfterBinding', scope.features),
  }
  // A POST to `bindings` creates a Binding, whose uid is not a precondition on the pod.
  const { uid: givenUid = '', resourceVersion = '' } = binding.metadata
  const expected = { uid: context.info.name === '' ? '' : givenUid, resourceVersion }
  await pods.updateStored(write, {
    ...target,
    subresource: 'binding',
    // The body is a Binding and not a Pod, so the user does not become an owner of fields of the pod.
    managesFields: true,
    change(pod) {
      checkBound(pods.definition, expected, pod as DeepReadonly<Pod>, { ...target, dryRun: write.dryRun })
      return bindPod(pod as DeepReadonly<Pod>, binding, scope.clock.now(), options)
    },
    skipAdmission: true,
  })
  return successResponse(responses, context, { code: 201 }, { code: 201, representation })
}

/** Checks the uid and resourceVersion of a binding, which are preconditions on the pod. @throws ApiError 409 */
function checkBound(
  definition: ResourceDefinition,
  { uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string },
  { metadata }: DeepReadonly<Pod>,
  target: { readonly namespace: string; readonly name: string; readonly dryRun: boolean },
): void {
  if (uid !== '' && uid !== metadata.uid) throw uidConflict(definition, { ...target, uid, found: metadata.uid })
  if (resourceVersion !== '' && resourceVersion !== metadata.resourceVersion)
    throw versionConflict(definition, { ...target, resourceVersion, found: metadata.resourceVersion })
}
