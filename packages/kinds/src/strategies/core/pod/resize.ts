/** The sub-resource that changes the CPU and memory of a running pod. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { SubresourceStrategy } from '../../../interfaces.ts'
import type { Container, Pod, PodSpec, PodStatus, ResourceRequirements } from '../../../types/core-v1.generated.ts'
import { copy } from '../../shared/copies.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { dropDisabledPodFields } from '../../shared/pod-gates.ts'
import { podQos } from '../../shared/pod-qos.ts'
import { completePodResources, completesLater, hasPodResources } from '../../shared/pod-resources.ts'
import { emptyPodSpec } from '../../shared/pod-template.ts'
import { compareAmounts } from '../../shared/quantities.ts'
import { updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, own, type R } from '../../shared/values.ts'
import { raisePodGeneration } from './generation.ts'
import { lacksSome, restoreCompute, validatePodLevelResize } from './resized-resources.ts'
import { validateResizedVolumes } from './resized-volumes.ts'
import { restorePod, validateCommon } from './subresources.ts'

/**
 * Changes CPU and memory of containers and their resize policy. Gates allow more: `InPlacePodLevelResourcesVerticalScaling` the resources of
 * the pod, `InPlacePodVerticalScalingInitContainers` init containers, `InPlacePodVerticalScalingMemoryBackedVolumes` volumes in memory.
 */
export const resizeStrategy: SubresourceStrategy<Pod> = {
  *prepareForUpdate(pod, old, context) {
    const { features } = context
    const { containers, initContainers, resources, volumes } = pod.spec ?? emptyPodSpec
    const { containers: oldContainers, initContainers: oldInit } = old.spec ?? emptyPodSpec
    // Validation refuses other containers.
    if (containers?.length === oldContainers?.length && (initContainers?.length ?? 0) === (oldInit?.length ?? 0)) {
      yield* restorePod(pod, old, (spec) => {
        if (isSet(spec.containers)) spec.containers = resized(containers ?? [], spec.containers)
        if (isSet(spec.initContainers)) spec.initContainers = resized(initContainers ?? [], spec.initContainers)
        if (gateEnabled('InPlacePodLevelResourcesVerticalScaling', features)) setMember(spec, 'resources', resources)
        if (gateEnabled('InPlacePodVerticalScalingMemoryBackedVolumes', features)) setMember(spec, 'volumes', volumes)
      })
    }
    if (isSet(pod.spec)) {
      const before = old.spec?.resources
      if (!isSet(pod.spec.resources) && isSet(before) && completesLater(features))
        pod.spec.resources = yield* copy<ResourceRequirements>(before)
      completePodResources(pod.spec, features)
      dropDisabledPodFields(pod.spec, old.spec, features)
    }
    yield* raisePodGeneration(pod, old, context)
  },
  validateUpdate: updateRules(function* (errors, pod, old, { features, profile }) {
    const fixed = fixedSize(pod, old, { features, mirrorKey: `${profile.domain}/config.mirror` })
    if (fixed !== undefined) {
      forbidWhole(errors, `${fixed} cannot be resized`)
      return
    }
    yield* validateCommon(pod, old, errors)
    yield* validateResize(pod, old, errors, features)
  }),
}

function setMember<K extends 'resources' | 'volumes'>(spec: PodSpec, member: K, value: PodSpec[K]): void {
  if (isSet(value)) spec[member] = value
  else delete spec[member]
}

function forbidWhole(errors: ContextErrorList, detail: string): void {
  errors.push({ field: '[]', reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` })
}

/** The pods that cannot be resized whatever changes, if this is one of them. */
function fixedSize(
  pod: DeepReadonly<Pod>,
  old: DeepReadonly<Pod>,
  { features, mirrorKey }: { readonly features: Features; readonly mirrorKey: string },
): string | undefined {
  if (!features.release.atLeast('1.35') && changesPodResources(pod, old)) return 'pods with pod-level resources'
  if (own(old.metadata.annotations, mirrorKey) !== undefined) return 'static pods'
  return old.spec?.os?.name === 'windows' ? 'windows pods' : undefined
}

function changesPodResources(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>): boolean {
  return [pod, old].some(({ spec }) => isSet(spec) && hasPodResources(spec))
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
  if (changesPodResources(pod, old)) {
    if (!gateEnabled('InPlacePodLevelResourcesVerticalScaling', features)) {
      const gate = 'InPlacePodLevelResourcesVerticalScalingEnabled'
      forbidWhole(errors, `resize of pods with pod-level resources is forbidden when ${gate} feature gate is disabled`)
      return
    }
    yield* validatePodLevelResize(spec.resources, before.resources, at)
  }
  if (usesNodeResources(old.status) && features.release.atLeast('1.36') && !features.release.atLeast('1.37'))
    at.forbidden('pods with node allocatable resource claims cannot be resized')
  const areSame = [hasSameContainers(spec, before, 'containers', at), hasSameContainers(spec, before, 'initContainers', at)]
  if (areSame.includes(false)) return
  const resizesInit = gateEnabled('InPlacePodVerticalScalingInitContainers', features)
  for (const kind of ['initContainers', 'containers'] as const) {
    for (const [i, container] of (before[kind] ?? []).entries()) {
      if (kind === 'initContainers' && !resizesInit && !isSidecar(container)) continue
      validateContainerResize(spec[kind]?.[i] as R<Container>, container, at.child(kind).index(i).child('resources'))
    }
  }
  for (const [i, container] of (spec.containers ?? []).entries()) {
    const was = before.containers?.[i] as R<Container>
    if (!(yield* semanticEqual(withComputeOf(was, container, features), was)))
      at.forbidden('only cpu and memory resources are mutable')
  }
  yield* validateInitContainers(spec, before, { at, features, resizesInit })
  if (gateEnabled('InPlacePodVerticalScalingMemoryBackedVolumes', features))
    yield* validateResizedVolumes(spec.volumes ?? [], before.volumes ?? [], at.child('volumes'))
  // Resources of the pod without requests and limits.
  if (errors.length === 0 && !changesPodResources(pod, old) && isSet(spec.resources) !== isSet(before.resources))
    at.forbidden('only cpu and memory resources are mutable')
}

function usesNodeResources(status: R<PodStatus> | undefined): boolean {
  return !isEmpty(
    (status as { readonly nodeAllocatableResourceClaimStatuses?: readonly object[] | null } | undefined)
      ?.nodeAllocatableResourceClaimStatuses,
  )
}

interface InitContainerRules {
  readonly at: FieldPath
  readonly features: Features
  /** Whether init containers that are no sidecars may be resized. */
  readonly resizesInit: boolean
}

function* validateInitContainers(spec: R<PodSpec>, before: R<PodSpec>, rules: InitContainerRules): Work {
  const { at, features, resizesInit } = rules
  const isLater = features.release.atLeast('1.36')
  for (const [i, container] of (spec.initContainers ?? []).entries()) {
    const was = before.initContainers?.[i] as R<Container>
    const isModified = !(yield* semanticEqual(container, was))
    if (!isSidecar(container) && !resizesInit) {
      if (isModified) at.forbidden('resources for non-sidecar init containers are immutable')
      continue
    }
    const here = at.child('initContainers').index(i)
    if (!(yield* semanticEqual(withComputeOf(was, container, features), was))) {
      if (isLater) here.forbidden('only cpu and memory resources for init or sidecar containers are mutable')
      else at.forbidden('only cpu and memory resources for sidecar containers are mutable')
    }
    if (!isModified || isSidecar(container)) continue
    for (const { restartPolicy } of container.resizePolicy ?? []) {
      if (restartPolicy === 'RestartContainer')
        here.forbidden('non-sidecar init containers with a resize policy of RestartContainer cannot be resized')
    }
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

/** `container` with the CPU and memory of `before`. Since 1.37 it keeps its claims. */
function withComputeOf(before: R<Container>, container: R<Container>, { release }: Features): R<Container> {
  const { resources: now, ...rest } = container
  const keepsOthers = release.atLeast('1.35')
  const claims = release.atLeast('1.37') && isSet(now?.claims) ? { claims: now.claims } : {}
  return { ...rest, resources: { ...restoreCompute(now, before.resources, keepsOthers), ...claims } }
}

function validateContainerResize(container: R<Container>, old: R<Container>, at: FieldPath): void {
  const { requests, limits } = container.resources ?? {}
  if (lacksSome(requests, old.resources?.requests)) at.child('requests').forbidden('resource requests cannot be removed')
  if (lacksSome(limits, old.resources?.limits)) at.child('limits').forbidden('resource limits cannot be removed')
  if (at.errors.context.features.release.atLeast('1.34')) return
  const policy = container.resizePolicy?.find(({ resourceName }) => resourceName === 'memory')
  if (policy !== undefined && policy.restartPolicy !== 'NotRequired' && policy.restartPolicy !== '') return
  const [limit, before] = [own(limits, 'memory'), own(old.resources?.limits, 'memory')]
  if (limit === undefined) return
  const place = at.child('limits').key('memory')
  if (before === undefined) place.forbidden('memory limits cannot be added unless resizePolicy is RestartContainer')
  else if (compareAmounts(limit, before) < 0)
    place.forbidden('memory limits cannot be decreased unless resizePolicy is RestartContainer')
}
