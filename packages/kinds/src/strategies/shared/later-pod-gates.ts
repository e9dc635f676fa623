/** Members of pods that 1.34 and later releases added, by gate. */

import type { GatedFields } from './gated-fields.ts'

const lists = ['containers', 'initContainers', 'ephemeralContainers']
const inContainers = (...paths: string[]): string[] => lists.flatMap((list) => paths.map((path) => `${list}.*.${path}`))
const inStatuses = (path: string): string[] =>
  ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].map((list) => `status.${list}.*.${path}`)
const probes = ['livenessProbe', 'readinessProbe', 'startupProbe']
const handlers = [...probes, 'lifecycle.postStart', 'lifecycle.preStop']
const projected = 'volumes.*.projected.sources.*'

/** Members of a pod's spec. */
export const laterSpecGates: readonly GatedFields[] = [
  { gate: 'PodCertificateRequest', paths: [`${projected}.podCertificate`] },
  { gate: 'HostnameOverride', paths: ['hostnameOverride'] },
  { gate: 'EnvFiles', paths: inContainers('env.*.valueFrom.fileKeyRef') },
  { gate: 'GenericWorkload', paths: ['workloadRef', 'schedulingGroup'] },
  { gate: 'EvictionRequestAPI', paths: ['evictionResponders'] },
  { gate: 'EmptyDirVolumeMode', paths: ['volumes.*.emptyDir.mode'] },
  { gate: 'VolumeBindMountOptions', paths: inContainers('volumeMounts.*.bindMountOptions') },
  { gate: 'GRPCContainerProbeTLS', paths: inContainers(...probes.map((probe) => `${probe}.grpc.mode`)) },
  { gate: 'H2CContainerProbe', paths: inContainers(...handlers.map((handler) => `${handler}.httpGet.protocol`)) },
  {
    gate: 'AtomicWriteVolumeUserFields',
    paths: [
      ...['secret', 'configMap', 'downwardAPI', 'projected'].map((source) => `volumes.*.${source}.defaultUser`),
      ...['secret', 'configMap', 'downwardAPI'].flatMap((source) => [
        `volumes.*.${source}.items.*.user`,
        `${projected}.${source}.items.*.user`,
      ]),
      ...['serviceAccountToken', 'clusterTrustBundle', 'podCertificate'].map((source) => `${projected}.${source}.user`),
    ],
  },
]

/** Members of a pod's status. */
export const laterStatusGates: readonly GatedFields[] = [
  { gate: 'DRAExtendedResource', paths: ['status.extendedResourceClaimStatus'] },
  { gate: 'InPlacePodLevelResourcesVerticalScaling', paths: ['status.resources', 'status.allocatedResources'] },
  { gate: 'DRANodeAllocatableResources', paths: ['status.nodeAllocatableResourceClaimStatuses'] },
  { gate: 'ResourceHealthStatusMessage', paths: inStatuses('allocatedResourcesStatus.*.resources.*.message') },
  { gate: 'ImageVolumeWithDigest', paths: inStatuses('volumeMounts.*.volumeStatus') },
  { gate: 'CSIVolumeHealth', paths: ['status.volumeHealth'] },
]
