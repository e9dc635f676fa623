/** Sub-resources that change a part of a running pod: ephemeral containers and container resources. */
import type { DeepReadonly, ObjectMeta } from '@krmkit/meta'
import type { SubresourceStrategy } from '../../../interfaces.ts'
import type { Container, Pod, PodSpec, PodStatus } from '../../../types/core-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { raiseGeneration, validateMetadataUpdate } from '../../shared/metadata.ts'
import { dropDisabledPodFields } from '../../shared/pod-gates.ts'
import { podQos } from '../../shared/pod-qos.ts'
import { emptyPodSpec } from '../../shared/pod-template.ts'
import { compareAmounts } from '../../shared/quantities.ts'
import { validateWith } from '../../shared/strategy.ts'
import { copy, firstByName, isSet, own, type R, semanticEqual, sortedKeys } from '../../shared/values.ts'
import { validateAnnotationUpdates } from './update-validation.ts'
import { validatePod } from './validation.ts'

/** Restores the stored pod except its identity and the members that `change` sets. */
function restorePod(pod: Pod, old: DeepReadonly<Pod>, change: (spec: PodSpec) => void): void {
  const { name, namespace, resourceVersion, uid, managedFields } = pod.metadata
  const spec = copy<PodSpec>(old.spec ?? emptyPodSpec)
  change(spec)
  const given = { name, namespace, resourceVersion, uid, managedFields }
  pod.metadata = {
    ...copy<ObjectMeta>(old.metadata),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  }
  pod.spec = spec
  if (isSet(old.status)) pod.status = copy<PodStatus>(old.status)
  else delete pod.status
}

function validateCommon(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>, errors: ContextErrorList): void {
  validateMetadataUpdate(pod, old, errors)
  validatePod(pod, errors)
  validateAnnotationUpdates(pod, old, errors.child('metadata').child('annotations'))
}

/** Adds ephemeral containers; existing ones are immutable. */
export const ephemeralContainersStrategy: SubresourceStrategy<Pod> = {
  prepareForUpdate(pod, old, context) {
    const added = pod.spec?.ephemeralContainers
    restorePod(pod, old, (spec) => {
      if (added === undefined) delete spec.ephemeralContainers
      else spec.ephemeralContainers = added
      dropDisabledPodFields(spec, old.spec, context.features)
    })
    raiseGeneration(pod, old, 'spec')
  },
  validateUpdate(pod, old, context) {
    return validateWith(context, (errors) => {
      validateCommon(pod, old, errors)
      const at = errors.child('spec').child('ephemeralContainers')
      const byName = firstByName(pod.spec?.ephemeralContainers ?? [])
      for (const container of old.spec?.ephemeralContainers ?? []) {
        const now = byName.get(container.name)
        const name = JSON.stringify(container.name)
        if (now === undefined) at.forbidden(`existing ephemeral containers ${name} may not be removed\n`)
        else if (!semanticEqual(now, container)) at.forbidden(`existing ephemeral containers ${name} may not be changed\n`)
      }
    })
  },
}

/** Changes CPU and memory of containers and their resize policy, nothing else. */
export const resizeStrategy: SubresourceStrategy<Pod> = {
  prepareForUpdate(pod, old) {
    // Validation refuses the pod as it was sent when it has other containers.
    if (!sameContainers(pod.spec ?? emptyPodSpec, old.spec ?? emptyPodSpec)) return
    const wanted = new Map<string, Container>()
    for (const container of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])])
      wanted.set(container.name, container)
    restorePod(pod, old, (spec) => {
      for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
        const now = wanted.get(container.name)
        if (now === undefined) continue
        if (isSet(now.resources)) container.resources = now.resources
        if (isSet(now.resizePolicy)) container.resizePolicy = now.resizePolicy
      }
    })
    raiseGeneration(pod, old, 'spec')
  },
  validateUpdate(pod, old, context) {
    return validateWith(context, (errors) => {
      validateCommon(pod, old, errors)
      validateResize(pod.spec ?? emptyPodSpec, old.spec ?? emptyPodSpec, errors)
    })
  },
}

function sameContainers(spec: R<PodSpec>, before: R<PodSpec>): boolean {
  return containerLists.every((list) => {
    const [now, then] = [spec[list] ?? [], before[list] ?? []]
    return now.length === then.length && now.every(({ name }, i) => name === then[i]?.name)
  })
}

const containerLists = ['containers', 'initContainers'] as const

/** @returns whether each container has its counterpart at the same place. */
function validateContainerOrder(spec: R<PodSpec>, before: R<PodSpec>, at: FieldPath): boolean {
  for (const list of containerLists) {
    const [now, then] = [spec[list] ?? [], before[list] ?? []]
    if (now.length !== then.length) at.child(list).forbidden(`${list} may not be added or removed on resize`)
    else
      for (const [i, { name }] of then.entries())
        if (now[i]?.name !== name)
          at.child(list).index(i).child('name').forbidden(`${list} may not be renamed or reordered on resize`)
  }
  return sameContainers(spec, before)
}

function validateResize(spec: R<PodSpec>, before: R<PodSpec>, errors: ContextErrorList): void {
  const at = errors.child('spec')
  if (before.os?.name === 'windows') {
    at.forbidden('windows pods cannot be resized')
    return
  }
  if (podQos(spec) !== podQos(before)) at.invalid(podQos(spec), 'Pod QOS Class may not change as a result of resizing')
  if (!validateContainerOrder(spec, before, at)) return
  for (const [i, container] of (spec.containers ?? []).entries()) {
    const old = before.containers?.[i]
    if (old !== undefined) validateContainerResize(container, old, at.child('containers').index(i))
  }
}

function validateContainerResize(container: R<Container>, old: R<Container>, at: FieldPath): void {
  const here = at.child('resources')
  for (const kind of ['limits', 'requests'] as const) {
    const now = container.resources?.[kind]
    const then = old.resources?.[kind]
    for (const name of new Set([...sortedKeys(now), ...sortedKeys(then)])) {
      const [value, before] = [own(now, name), own(then, name)]
      if (value === before) continue
      if (name !== 'cpu' && name !== 'memory') {
        at.child('resources').child(kind).key(name).forbidden('only cpu and memory resources are mutable')
      } else if (before !== undefined && value === undefined) {
        here.child(kind).key(name).forbidden(`resource ${kind} cannot be removed`)
      } else if (kind === 'limits' && name === 'memory' && before !== undefined && compareAmounts(value, before) < 0) {
        const restarts = old.resizePolicy?.some(
          (policy) => policy.resourceName === 'memory' && policy.restartPolicy === 'RestartContainer',
        )
        if (restarts !== true) {
          here.child(kind).key(name).forbidden('memory limits cannot be decreased unless resizePolicy is RestartContainer')
        }
      }
    }
  }
}
