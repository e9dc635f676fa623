import type { FormerKind } from './interfaces.ts'

/** Kinds whose former versions differ from the hub in the name only. */

const same = (group: string, hub: string, versions: readonly string[], kinds: readonly string[]): FormerKind[] =>
  kinds.map((kind) => ({ group, kind, hub, versions: Object.fromEntries(versions.map((version) => [version, []])) }))

export const sameShapeKinds: readonly FormerKind[] = [
  ...same('apiregistration.k8s.io', 'v1', ['v1beta1'], ['APIService']),
  ...same('batch', 'v1', ['v2alpha1', 'v1beta1'], ['CronJob']),
  ...same('events.k8s.io', 'v1', ['v1beta1'], ['Event']),
  ...same('scheduling.k8s.io', 'v1', ['v1alpha1', 'v1beta1'], ['PriorityClass']),
  ...same('storage.k8s.io', 'v1', ['v1beta1'], ['CSIDriver', 'CSINode', 'StorageClass']),
  ...same('storage.k8s.io', 'v1', ['v1alpha1', 'v1beta1'], ['CSIStorageCapacity', 'VolumeAttachment']),
  ...same('storage.k8s.io', 'v1', ['v1alpha1', 'v1beta1'], ['VolumeAttributesClass']),
  ...same('certificates.k8s.io', 'v1', ['v1alpha1', 'v1beta1'], ['ClusterTrustBundle']),
  ...same('storagemigration.k8s.io', 'v1', ['v1beta1'], ['StorageVersionMigration']),
]
