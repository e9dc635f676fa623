import { ApiError, type ApiObject, formatTime } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { type FrozenObject, takeNamespace } from '@krmkit/registry'
import { readObject } from '../encoding/request-body.ts'
import { successResponse } from '../encoding/status-response.ts'
import type { RequestContext } from '../request-context.ts'
import { type RequestScope, requestedOptions } from '../request-scope.ts'
import { writeContext } from '../write-context.ts'
import { anyChange } from './any-change.ts'

interface Binding extends ApiObject {
  target?: { kind?: string; name?: string }
}

interface PodLike extends ApiObject {
  spec?: { nodeName?: string; schedulingGates?: unknown[] }
  status?: { conditions?: { type: string; status: string; lastTransitionTime?: string }[] }
}

/**
 * POST to `pods/binding` or `bindings`: assigns a pod to a node.
 *
 * @throws ApiError 400, 404, 409 when the pod has a node or is terminating.
 */
export async function bindPod(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { clock, registry, responses } = scope
  const { namespace, subresource } = context.info
  const pods = registry.storeOf({ group: '', resource: 'pods' })
  if (pods === undefined) throw ApiError.genericNotFound()
  const options = requestedOptions(scope, context, 'CreateOptions')
  const type = () => responses.types.struct('core/v1.Binding')
  const gvk = { group: '', version: 'v1', kind: 'Binding' }
  const body = (await readObject(scope, context, {
    gvk,
    type,
    fieldValidation: options.fieldValidation,
    unstored: true,
  })) as Binding
  const write = writeContext(context, options)
  const requested = context.info.name || (body.metadata.name ?? '')
  // `bindings` is a resource, `pods/binding` a subresource of pods.
  const admission = scope.store.operation(write, { namespace, name: requested, subresource, kind: gvk })
  takeNamespace(body, namespace, pods.definition)
  const binding = (await admission.admit(body)) as Binding
  const bound = binding.metadata.name ?? ''
  const name = subresource === 'binding' ? context.info.name : bound
  if (bound !== name) throw ApiError.badRequest('name in URL does not match name in Binding object')
  const node = binding.target?.name ?? ''
  const kind = binding.target?.kind ?? ''
  if (kind !== '' && kind !== 'Node') {
    throw ApiError.invalid({ group: '', kind: 'Binding' }, name, [
      {
        field: 'target.kind',
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`,
      },
    ])
  }
  if (node === '')
    throw ApiError.invalid({ group: '', kind: 'Binding' }, name, [
      { field: 'target.name', reason: 'FieldValueRequired', message: 'Required value' },
    ])
  await admission.validate(binding)
  await pods.updateStored(write, {
    namespace,
    name,
    subresource: 'binding',
    // A Binding is not a Pod: its user owns no field of the pod.
    managesFields: true,
    change: (current) => assigned(current as FrozenObject, binding, node, formatTime(clock.now())),
    uid: binding.metadata.uid ?? '',
    strategy: anyChange,
    skipAdmission: true,
  })
  return successResponse(responses, context, { code: 201 }, 201)
}

function assigned(current: FrozenObject, binding: Binding, node: string, now: string): ApiObject {
  const pod = structuredClone(current) as PodLike
  const name = pod.metadata.name ?? ''
  const refuse = (detail: string) => ApiError.conflict({ group: '', resource: 'pods/binding' }, name, detail)
  if (pod.metadata.deletionTimestamp !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  if ((pod.spec?.nodeName ?? '') !== '')
    throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(pod.spec?.nodeName)}`)
  if ((pod.spec?.schedulingGates ?? []).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  pod.spec = { ...pod.spec, nodeName: node }
  const annotations = binding.metadata.annotations ?? {}
  if (Object.keys(annotations).length > 0) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations }
  const conditions = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  pod.status = { ...pod.status, conditions: [...conditions, { type: 'PodScheduled', status: 'True', lastTransitionTime: now }] }
  pod.metadata.resourceVersion = binding.metadata.resourceVersion ?? ''
  return pod
}
