/** `pods/binding`: assigns a pod to a node. */

import { ApiError, type DeepReadonly, type FieldError, field, formatTime, Path } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { copyJson } from '@krmkit/schema/json'
import type { SubresourceStrategy } from '../../../interfaces.ts'
import type { Binding, Pod } from '../../../types/core-v1.generated.ts'
import { isEmpty, isEmptyMap } from '../../shared/values.ts'

/** `bindPod` decides what a binding changes; the rules of ordinary updates do not apply. */
export const bindingStrategy: SubresourceStrategy<Pod> = { prepareForUpdate: () => {}, validateUpdate: () => [] }

/** Validates the target of a binding, which is a node. {@link bindPod} has an example. */
export function validateBinding({ target }: DeepReadonly<Binding>): FieldError[] {
  const at = Path.of('target')
  const { kind = '', name = '' } = target ?? {}
  const errors: FieldError[] = []
  if (kind !== '' && kind !== 'Node') errors.push(field.notSupported(at.child('kind'), kind, ['Node', '<empty>']))
  if (name === '') errors.push(field.required(at.child('name')))
  return errors
}

interface BindOptions {
  readonly copyLabels?: boolean
  readonly clearNominatedNode?: boolean
}

/**
 * Returns a copy of the pod with the node and the annotations of the binding and the condition `PodScheduled`. The resourceVersion is
 * that of the binding, as a precondition of the write.
 *
 * @param now milliseconds since the epoch.
 * @param options `copyLabels`: the pod gets the labels of the binding (gate `PodTopologyLabelsAdmission`). `clearNominatedNode`:
 * `status.nominatedNodeName` becomes empty (gate `ClearingNominatedNodeNameAfterBinding`). Both are false by default.
 * @throws ApiError 409 when the pod is terminating, has a node, or has scheduling gates.
 * @example
 * import type { Binding, Pod } from '@krmkit/kinds/core/v1'
 * import { bindPod, validateBinding } from '@krmkit/kinds/strategies'
 * const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [] } }
 * const binding: Binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'web' }, target: { kind: 'Node', name: 'node-1' } }
 * validateBinding(binding) // []
 * bindPod(pod, binding, Date.now()).spec?.nodeName // 'node-1'
 */
export function bindPod(
  pod: DeepReadonly<Pod>,
  binding: DeepReadonly<Binding>,
  now: number,
  { copyLabels = false, clearNominatedNode = false }: BindOptions = {},
): Pod {
  const { name = '', deletionTimestamp } = pod.metadata
  const refuse = (detail: string) => ApiError.conflict({ group: '', resource: 'pods/binding' }, name, detail)
  if (deletionTimestamp !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  const { nodeName, schedulingGates } = pod.spec ?? {}
  if (!isEmpty(nodeName)) throw refuse(`pod ${name} is already assigned to node ${goQuote(nodeName)}`)
  if (!isEmpty(schedulingGates)) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  const bound = copyJson(pod as Pod)
  const { annotations, labels, resourceVersion = '' } = binding.metadata
  bound.spec = { containers: [], ...bound.spec, nodeName: binding.target.name ?? '' }
  if (!isEmptyMap(annotations)) bound.metadata.annotations = { ...bound.metadata.annotations, ...annotations }
  if (copyLabels && !isEmptyMap(labels)) bound.metadata.labels = { ...bound.metadata.labels, ...labels }
  const conditions = (bound.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: formatTime(now) }
  bound.status = { ...bound.status, conditions: [...conditions, scheduled] }
  if (clearNominatedNode) delete bound.status.nominatedNodeName
  bound.metadata.resourceVersion = resourceVersion
  return bound
}
