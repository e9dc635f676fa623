import type { KindPolicy } from '../../interfaces.ts'
import { csiNodePolicy } from './csi-node.ts'
import { csiStorageCapacityPolicy } from './csi-storage-capacity.ts'
import { volumeAttachmentPolicy } from './volume-attachment.ts'
import { volumeAttributesClassPolicy } from './volume-attributes-class.ts'

/** Policies of the group, by `group/Kind`. */
export const storagePolicies: Readonly<Record<string, KindPolicy>> = {
  'storage.k8s.io/CSINode': csiNodePolicy,
  'storage.k8s.io/CSIStorageCapacity': csiStorageCapacityPolicy,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentPolicy,
  'storage.k8s.io/VolumeAttributesClass': volumeAttributesClassPolicy,
}
