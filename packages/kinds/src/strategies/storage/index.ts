import type { Strategy } from '../../interfaces.ts'
import { csiNodeStrategy } from './csi-node.ts'
import { csiStorageCapacityStrategy } from './csi-storage-capacity.ts'
import { volumeAttachmentStrategy } from './volume-attachment.ts'
import { volumeAttributesClassStrategy } from './volume-attributes-class.ts'

/** Policies of the group, by `group/Kind`. */
export const storageStrategies: Readonly<Record<string, Strategy>> = {
  'storage.k8s.io/CSINode': csiNodeStrategy,
  'storage.k8s.io/CSIStorageCapacity': csiStorageCapacityStrategy,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentStrategy,
  'storage.k8s.io/VolumeAttributesClass': volumeAttributesClassStrategy,
}
