/** Sub-resources that change a part of a running pod: ephemeral containers and container resources. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, Features } from '@krmkit/meta'
import type { SubresourceStrategy } from '../../../interfaces.ts'
import type { Container, Pod, PodSpec, PodStatus } from '../../../types/core-v1.generated.ts'
import { copy } from '../../shared/copies.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { resetStatusMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { dropDisabledPodFields } from '../../shared/pod-gates.ts'
import { podQos } from '../../shared/pod-qos.ts'
import { hasPodResources } from '../../shared/pod-resources.ts'
import { emptyPodSpec } from '../../shared/pod-template.ts'
import { compareAmounts } from '../../shared/quantities.ts'
import { sortedKeys } from '../../shared/sorted-keys.direct.ts'
import { updateRules } from '../../shared/strategy.ts'
import { structDiff } from '../../shared/struct-diff.ts'
import { isSet, own, type R } from '../../shared/values.ts'
import { raisePodGeneration } from './generation.ts'
import { validateAnnotationUpdates } from './update-validation.ts'
import { validatePod } from './validation.ts'

/** Restores the stored pod except the metadata that a status may change and the members that `change` sets. */
function* restorePod(pod: Pod, old: DeepReadonly<Pod>, change: (spec: PodSpec) => void): Work {
  const spec = yield* copy<PodSpec>(old.spec ?? emptyPodSpec)
  change(spec)
  yield* resetStatusMetadata(pod, old)
  pod.spec = spec
  if (isSet(old.status)) pod.status = yield* copy<PodStatus>(old.status)
  else delete pod.status
}

function* validateCommon(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>, errors: ContextErrorList): Work {
  yield* validateMetadataUpdate(pod, old, errors)
  yield* validatePod(pod, errors)
  yield* validateAnnotationUpdates(pod, old, errors.child('metadata').child('annotations'))
}

/** Adds ephemeral containers; existing ones are immutable. */
export const ephemeralContainersStrategy: SubresourceStrategy<Pod> = {
  *prepareForUpdate(pod, old, context) {
    const added = pod.spec?.ephemeralContainers
    yield* restorePod(pod, old, (spec) => {
      if (added === undefined) delete spec.ephemeralContainers
      else spec.ephemeralContainers = added
      dropDisabledPodFields(spec, old.spec, context.features)
    })
    yield* raisePodGeneration(pod, old, context)
  },
  validateUpdate: updateRules(function* (errors, pod, old, { features }) {
    yield* validateCommon(pod, old, errors)
    const at = errors.child('spec').child('ephemeralContainers')
    // Of containers of one name, which are refused anyway, the last counts.
    const byName = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]))
    for (const container of old.spec?.ephemeralContainers ?? []) {
      const now = byName.get(container.name)
      const name = JSON.stringify(container.name)
      if (now === undefined) at.forbidden(`existing ephemeral containers ${name} may not be removed\n`)
      else if (!(yield* semanticEqual(now, container))) {
        const diff = yield* structDiff('core.EphemeralContainer', { before: container, after: now }, features)
        at.forbidden(`existing ephemeral containers ${name} may not be changed\n${diff}`)
      }
    }
  }),
}

/** Changes CPU and memory of containers and their resize policy, nothing else. */
export const resizeStrategy: SubresourceStrategy<Pod> = {
  *prepareForUpdate(pod, old, context) {
    const { containers, initContainers } = pod.spec ?? emptyPodSpec
    const { containers: oldContainers, initContainers: oldInit } = old.spec ?? emptyPodSpec
    // Validation refuses other containers.
    if (containers?.length === oldContainers?.length && (initContainers?.length ?? 0) === (oldInit?.length ?? 0)) {
      yield* restorePod(pod, old, (spec) => {
        if (isSet(spec.containers)) spec.containers = resized(containers ?? [], spec.containers)
        if (isSet(spec.initContainers)) spec.initContainers = resized(initContainers ?? [], spec.initContainers)
      })
    }
    yield* raisePodGeneration(pod, old, context)
  },
  validateUpdate: updateRules(function* (errors, pod, old, { features, profile }) {
    const fixed = fixedSize(pod, old, `${profile.domain}/config.mirror`)
    if (fixed !== undefined) {
      errors.push({ field: '[]', reason: 'FieldValueForbidden', message: `Forbidden: ${fixed} cannot be resized` })
      return
    }
    yield* validateCommon(pod, old, errors)
    yield* validateResize(pod, old, errors, features)
  }),
}

/** The pods that cannot be resized whatever changes, if this is one of them. */
function fixedSize(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>, mirrorKey: string): string | undefined {
  if ([pod, old].some(({ spec }) => isSet(spec) && hasPodResources(spec))) return 'pods with pod-level resources'
  if (own(old.metadata.annotations, mirrorKey) !== undefined) return 'static pods'
  return old.spec?.os?.name === 'windows' ? 'windows pods' : undefined
}

/** Nodes that resize pods report the resources of running containers; a pod without running containers may be on any node. */
function runsWithoutResize(status: R<PodStatus> | undefined): boolean {
  const running = status?.containerStatuses?.find(({ state }) => isSet(state?.running))
  return running !== undefined && !isSet(running.resources)
}

/** The containers as they were, with the resources of `wanted`; `wanted` itself where the names differ. */
function resized(wanted: Container[], before: Container[]): Container[] {
  if (!before.every(({ name }, i) => wanted[i]?.name === name)) return wanted
  return before.map(({ resources: _resources, resizePolicy: _policy, ...rest }, i) => {
    const { resources, resizePolicy } = wanted[i] as Container
    return { ...rest, ...(isSet(resources) ? { resources } : {}), ...(isSet(resizePolicy) ? { resizePolicy } : {}) }
  })
}

function* validateResize(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>, errors: ContextErrorList, features: Features): Work {
  const at = errors.child('spec')
  const [spec, before] = [pod.spec ?? emptyPodSpec, old.spec ?? emptyPodSpec]
  if (podQos(spec, features) !== (old.status?.qosClass || podQos(before, features)))
    at.invalid(pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing')
  if (runsWithoutResize(old.status)) at.forbidden('Pod running on node without support for resize')
  const areSame = [hasSameContainers(spec, before, 'containers', at), hasSameContainers(spec, before, 'initContainers', at)]
  if (areSame.includes(false)) return
  for (const kind of ['initContainers', 'containers'] as const) {
    for (const [i, container] of (before[kind] ?? []).entries()) {
      if (kind === 'initContainers' && !isSidecar(container)) continue
      validateContainerResize(spec[kind]?.[i] as R<Container>, container, at.child(kind).index(i).child('resources'))
    }
  }
  for (const [i, container] of (spec.containers ?? []).entries()) {
    const was = before.containers?.[i] as R<Container>
    if (!(yield* semanticEqual(withComputeOf(was, container), was))) at.forbidden('only cpu and memory resources are mutable')
  }
  for (const [i, container] of (spec.initContainers ?? []).entries()) {
    const was = before.initContainers?.[i] as R<Container>
    if (isSidecar(container)) {
      if (!(yield* semanticEqual(withComputeOf(was, container), was)))
        at.forbidden('only cpu and memory resources for sidecar containers are mutable')
    } else if (!(yield* semanticEqual(container, was))) at.forbidden('resources for non-sidecar init containers are immutable')
  }
}

function isSidecar({ restartPolicy }: R<Container>): boolean {
  return restartPolicy === 'Always'
}

/** @returns false where containers were added, removed, renamed or reordered. */
function hasSameContainers(spec: R<PodSpec>, before: R<PodSpec>, kind: 'containers' | 'initContainers', at: FieldPath): boolean {
  const [now, then] = [spec[kind] ?? [], before[kind] ?? []]
  if (now.length !== then.length) {
    at.child(kind).forbidden(`${kind} may not be added or removed on resize`)
    return false
  }
  const renamed = [...then.keys()].filter((i) => now[i]?.name !== then[i]?.name)
  for (const i of renamed) at.child(kind).index(i).child('name').forbidden(`${kind} may not be renamed or reordered on resize`)
  return renamed.length === 0
}

/** `container` with the CPU and memory of `before`. */
function withComputeOf(before: R<Container>, container: R<Container>): R<Container> {
  const restored = (kind: 'limits' | 'requests'): Record<string, string> => {
    const then = before.resources?.[kind]
    if (!isSet(then)) return {}
    const { cpu: _cpu, memory: _memory, ...others } = container.resources?.[kind] ?? {}
    const { cpu, memory } = then
    return { ...others, ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) }
  }
  const [limits, requests] = [restored('limits'), restored('requests')]
  const { resources: _, ...rest } = container
  const resources = {
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
  }
  return { ...rest, resources }
}

function validateContainerResize(container: R<Container>, old: R<Container>, at: FieldPath): void {
  const { requests, limits } = container.resources ?? {}
  if (lacksSome(requests, old.resources?.requests)) at.child('requests').forbidden('resource requests cannot be removed')
  if (lacksSome(limits, old.resources?.limits)) at.child('limits').forbidden('resource limits cannot be removed')
  const policy = container.resizePolicy?.find(({ resourceName }) => resourceName === 'memory')
  if (policy !== undefined && policy.restartPolicy !== 'NotRequired' && policy.restartPolicy !== '') return
  const [limit, before] = [own(limits, 'memory'), own(old.resources?.limits, 'memory')]
  if (limit === undefined) return
  const place = at.child('limits').key('memory')
  if (before === undefined) place.forbidden('memory limits cannot be added unless resizePolicy is RestartContainer')
  else if (compareAmounts(limit, before) < 0)
    place.forbidden('memory limits cannot be decreased unless resizePolicy is RestartContainer')
}

function lacksSome(now: R<Record<string, string>> | undefined, then: R<Record<string, string>> | undefined): boolean {
  const [names, before] = [sortedKeys(now), sortedKeys(then)]
  return before.length > names.length || before.some((name) => !names.includes(name))
}
