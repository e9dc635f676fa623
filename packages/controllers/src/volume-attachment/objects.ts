import { hexText } from '@krmkit/base/bytes'
import { digest } from '@krmkit/base/platform'
import { resourceType } from '@krmkit/client'
import type { ApiObject, NamingProfile } from '@krmkit/meta'
import type { CsiSource } from '../volume/objects.ts'

/** The parts of attachments and drivers that the controllers of attachments read and write. */

export interface VolumeAttachment extends ApiObject {
  spec?: { attacher: string; nodeName: string; source: { persistentVolumeName?: string | null } }
  status?: { attached: boolean; [member: string]: unknown }
}

export interface CsiDriver extends ApiObject {
  spec?: { attachRequired?: boolean }
}

/** Returns the resources of the storage group. */
export function storageResources({ apiDomain }: NamingProfile) {
  const group = { group: `storage.${apiDomain}`, version: 'v1', namespaced: false }
  return {
    attachments: resourceType<VolumeAttachment>({ ...group, resource: 'volumeattachments', kind: 'VolumeAttachment' }),
    drivers: resourceType<CsiDriver>({ ...group, resource: 'csidrivers', kind: 'CSIDriver' }),
  }
}

/** Returns the name of the attachment of a volume to a node. */
export function attachmentName({ volumeHandle, driver }: Readonly<CsiSource>, node: string): string {
  return `csi-${hexText(digest('sha256', [`${volumeHandle}${driver}${node}`]))}`
}

/** Whether an attachment has a generated name, and was thus requested by this controller. */
export function isAttachmentName(name: string): boolean {
  return /^csi-[0-9a-f]{64}$/.test(name)
}
