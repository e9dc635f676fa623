/** Members of pods behind feature gates that are off. */
import type { Features } from '@krmkit/meta'
import type { Container, PodSpec, PodTemplateSpec } from '../../types/core-v1.generated.ts'
import { imageTag } from './image-name.ts'
import { isEmpty, isSet, type R } from './values.ts'

/** Drops members that the release does not have, unless the stored pod `old` uses them. */
export function dropDisabledPodFields(spec: PodSpec, old: R<PodSpec> | undefined, features: Features): void {
  if (!features.enabled('PodLevelResources') && !isSet(old?.resources)) delete spec.resources
  if (!features.enabled('DynamicResourceAllocation') && isEmpty(old?.resourceClaims)) {
    delete spec.resourceClaims
    for (const container of containers(spec)) delete container.resources?.claims
  }
  if (!features.enabled('ContainerStopSignals')) dropStopSignals(spec, old)
  if (!features.enabled('ClusterTrustBundleProjection') && !usesBundles(old)) {
    for (const volume of spec.volumes ?? [])
      for (const source of volume.projected?.sources ?? []) delete source.clusterTrustBundle
  }
  if (features.enabled('ImageVolume')) defaultPullPolicies(spec)
  else if (old?.volumes?.some((volume) => isSet(volume.image)) !== true) dropImageVolumes(spec)
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

function defaultPullPolicies(spec: PodSpec): void {
  for (const { image } of spec.volumes ?? []) {
    if (!isSet(image) || !isEmpty(image.pullPolicy)) continue
    image.pullPolicy = imageTag(image.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
  }
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

function usesBundles(spec: R<PodSpec> | undefined): boolean {
  return spec?.volumes?.some((volume) => volume.projected?.sources?.some((source) => isSet(source.clusterTrustBundle))) === true
}
