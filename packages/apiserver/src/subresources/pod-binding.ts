import { ApiError, type ApiObject, formatTime } from '@krmkit/meta'
import { type FrozenObject, takeNamespace, updateObject } from '@krmkit/registry'
import type { ApiResponse } from '../interfaces.ts'
import { readObject } from '../request-body.ts'
import { header } from '../request-context.ts'
import { type ResourceRequest, requestedOptions, writeContext } from '../resource-handler.ts'
import { statusResponse } from '../responses.ts'
import { anyChange, operationAdmission } from './operation.ts'

interface Binding extends ApiObject {
  target?: { kind?: string; name?: string }
}

interface PodLike extends ApiObject {
  spec?: { nodeName?: string; schedulingGates?: unknown[] }
  status?: { conditions?: { type: string; status: string; lastTransitionTime?: string }[] }
}

/**
 * POST to `pods/binding` or `bindings`: gives a pod its node, once.
 *
 * @throws ApiError 400, 404, 409 when the pod has a node or goes away.
 */
export async function bindPod(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state } = request
  const pods = machinery.stored('', 'pods')
  if (pods === undefined) throw ApiError.genericNotFound()
  const options = requestedOptions(request, 'CreateOptions')
  const type = () => machinery.responder.types.struct('core/v1.Binding')
  const gvk = { group: '', version: 'v1', kind: 'Binding' }
  const body = (await readObject(machinery, state, {
    gvk,
    type,
    fieldValidation: options.fieldValidation,
    unstored: true,
  })) as Binding
  const context = writeContext(request, options)
  const told = { name: state.info.name || (body.metadata.name ?? ''), kind: gvk }
  // `bindings` are a resource of their own, `pods/binding` is one of pods.
  const admission = operationAdmission(request, request.definition, context, told)
  takeNamespace(body, state.info.namespace, pods)
  const binding = (await admission.admit(body)) as Binding
  const bound = binding.metadata.name ?? ''
  const name = state.info.subresource === 'binding' ? state.info.name : bound
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
  await admission.judge(binding)
  await updateObject(machinery.writer, pods, context, {
    namespace: state.info.namespace,
    name,
    subresource: 'binding',
    // A Binding is no Pod: nobody comes to own what it changes there.
    owned: true,
    change: (current) => assigned(current as FrozenObject, binding, node, formatTime(machinery.writer.environment.clock.now())),
    uid: binding.metadata.uid ?? '',
    rules: anyChange,
    admitted: true,
  })
  return statusResponse(
    machinery.responder,
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
    header(state.request, 'accept'),
    201,
  )
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
