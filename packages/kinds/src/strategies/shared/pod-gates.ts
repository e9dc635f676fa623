/** Members of pods behind feature gates that are off. */
import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { Container, PodSpec, PodTemplateSpec } from '../../types/core-v1.generated.ts'
import { dropGatedFields, type GatedFields } from './gated-fields.ts'
import { laterSpecGates, laterStatusGates } from './later-pod-gates.ts'
import { dropRestartRules } from './restart-rules.ts'
import { isSet, type R } from './values.ts'

const lists = ['containers', 'initContainers', 'ephemeralContainers']
const inContainers = (path: string): string[] => lists.map((list) => `${list}.*.${path}`)
const affinityTerms = ['podAffinity', 'podAntiAffinity'].flatMap((kind) => [
  `affinity.${kind}.requiredDuringSchedulingIgnoredDuringExecution.*`,
  `affinity.${kind}.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm`,
])

/** Members of a pod's spec. */
export const podSpecGates: readonly GatedFields[] = [
  { gate: 'UserNamespacesSupport', paths: ['hostUsers'] },
  { gate: 'SupplementalGroupsPolicy', paths: ['securityContext.supplementalGroupsPolicy'] },
  { gate: 'PodLevelResources', paths: ['resources'] },
  {
    gate: 'NodeInclusionPolicyInPodTopologySpread',
    paths: ['topologySpreadConstraints.*.nodeAffinityPolicy', 'topologySpreadConstraints.*.nodeTaintsPolicy'],
  },
  { gate: 'MatchLabelKeysInPodTopologySpread', paths: ['topologySpreadConstraints.*.matchLabelKeys'] },
  {
    gate: 'MatchLabelKeysInPodAffinity',
    paths: affinityTerms.flatMap((term) => [`${term}.matchLabelKeys`, `${term}.mismatchLabelKeys`]),
  },
  {
    gate: 'DynamicResourceAllocation',
    paths: ['resourceClaims', ...inContainers('resources.claims')],
    usedBy: ['resourceClaims'],
  },
  { gate: 'ClusterTrustBundleProjection', paths: ['volumes.*.projected.sources.*.clusterTrustBundle'] },
  {
    gate: 'InPlacePodVerticalScaling',
    paths: inContainers('resizePolicy'),
    usedBy: ['containers.*.resizePolicy', 'initContainers.*.resizePolicy'],
  },
  { gate: 'SidecarContainers', paths: ['initContainers.*.restartPolicy'] },
  { gate: 'RecursiveReadOnlyMounts', paths: inContainers('volumeMounts.*.recursiveReadOnly') },
  { gate: 'SELinuxChangePolicy', paths: ['securityContext.seLinuxChangePolicy'] },
  ...laterSpecGates,
]

const inStatuses = (path: string): string[] =>
  ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].map((list) => `status.${list}.*.${path}`)

/** Members of a pod's status; its spec shows whether the pod uses the feature. */
export const podStatusGates: readonly GatedFields[] = [
  {
    gate: 'InPlacePodVerticalScaling',
    paths: [...inStatuses('resources'), ...inStatuses('allocatedResources')],
    usedBy: ['spec.containers.*.resizePolicy', 'spec.initContainers.*.resizePolicy'],
  },
  { gate: 'DynamicResourceAllocation', paths: ['status.resourceClaimStatuses'], usedBy: ['spec.resourceClaims'] },
  {
    gate: 'RecursiveReadOnlyMounts',
    paths: inStatuses('volumeMounts'),
    usedBy: inContainers('volumeMounts.*.recursiveReadOnly').map((path) => `spec.${path}`),
  },
  { gate: 'ResourceHealthStatus', paths: inStatuses('allocatedResourcesStatus'), usedBy: [] },
  {
    gate: 'SupplementalGroupsPolicy',
    paths: inStatuses('user'),
    usedBy: ['spec.securityContext.supplementalGroupsPolicy'],
  },
  { gate: 'PodObservedGenerationTracking', paths: ['status.observedGeneration', 'status.conditions.*.observedGeneration'] },
  ...laterStatusGates,
]

/** Drops members that the release does not have, unless the stored pod `old` uses them. */
export function dropDisabledPodFields(spec: PodSpec, old: R<PodSpec> | undefined, features: Features): void {
  dropGatedFields(spec, old, { table: podSpecGates, features })
  dropRestartRules(spec, old, features)
  if (!gateEnabled('ProcMountType', features)) resetProcMounts(spec, old)
  if (!gateEnabled('PodLifecycleSleepAction', features)) dropSleepActions(spec, old)
  if (!gateEnabled('ContainerStopSignals', features)) dropStopSignals(spec, old)
  if (!gateEnabled('ImageVolume', features) && old?.volumes?.some((volume) => isSet(volume.image)) !== true)
    dropImageVolumes(spec)
}

/** Applies `dropDisabledPodFields` to a pod template. */
export function dropDisabledTemplateFields(
  template: PodTemplateSpec | undefined,
  old: R<PodTemplateSpec> | undefined,
  features: Features,
): void {
  if (isSet(template?.spec)) dropDisabledPodFields(template.spec, old?.spec, features)
}

function containers(spec: PodSpec): Container[] {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? []), ...((spec.ephemeralContainers ?? []) as Container[])]
}

/** Without the gate a container has the default or nothing, unless the stored pod has another value. */
function resetProcMounts(spec: PodSpec, old: R<PodSpec> | undefined): void {
  const before = lists.flatMap((list) => (old?.[list as 'containers'] ?? []) as R<Container>[])
  if (before.some(({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default')) return
  for (const { securityContext } of containers(spec)) if (isSet(securityContext?.procMount)) securityContext.procMount = 'Default'
}

/** Removes volumes with an image, whatever else they have, and their mounts. */
function dropImageVolumes(spec: PodSpec): void {
  const names = new Set((spec.volumes ?? []).filter(({ image }) => isSet(image)).map(({ name }) => name))
  if (names.size === 0) return
  spec.volumes = (spec.volumes ?? []).filter(({ image }) => !isSet(image))
  for (const container of containers(spec)) {
    if (isSet(container.volumeMounts)) container.volumeMounts = container.volumeMounts.filter(({ name }) => !names.has(name))
  }
}

function dropStopSignals(spec: PodSpec, old: R<PodSpec> | undefined): void {
  const before = [...(old?.containers ?? []), ...(old?.initContainers ?? [])]
  if (before.some((container) => isSet(container.lifecycle?.stopSignal))) return
  for (const container of containers(spec)) {
    const { lifecycle } = container
    if (!isSet(lifecycle?.stopSignal)) continue
    // A lifecycle with nothing but the signal goes with it.
    if (isSet(lifecycle.postStart) || isSet(lifecycle.preStop)) delete lifecycle.stopSignal
    else delete container.lifecycle
  }
}

/** Removes hooks that sleep; a lifecycle with nothing else goes with them. */
function dropSleepActions(spec: PodSpec, old: R<PodSpec> | undefined): void {
  const before = lists.flatMap((list) => (old?.[list as 'containers'] ?? []) as R<Container>[])
  if (before.some(({ lifecycle }) => isSet(lifecycle?.preStop?.sleep) || isSet(lifecycle?.postStart?.sleep))) return
  for (const container of containers(spec)) {
    const { lifecycle } = container
    for (const hook of ['preStop', 'postStart'] as const) {
      const handler = lifecycle?.[hook]
      if (!isSet(lifecycle) || !isSet(handler?.sleep)) continue
      delete handler.sleep
      if (!isSet(handler.exec) && !isSet(handler.httpGet) && !isSet(handler.tcpSocket)) delete lifecycle[hook]
    }
    if (isSet(lifecycle) && !isSet(lifecycle.preStop) && !isSet(lifecycle.postStart) && !isSet(lifecycle.stopSignal)) {
      delete container.lifecycle
    }
  }
}
