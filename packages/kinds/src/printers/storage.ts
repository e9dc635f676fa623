import { stockProfile } from '@krmkit/meta'
import type { Printer } from '../interfaces.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../types/core-v1.generated.ts'
import type { CSIDriver, CSINode, StorageClass, VolumeAttachment } from '../types/storage-v1.generated.ts'
import type { VolumeAttributesClass } from '../types/storage-v1beta1.generated.ts'
import { ageColumn, column, nameColumn, wide } from './columns.ts'
import { since } from './duration.ts'
import { accessModesText } from './text.ts'

/** Volumes and what provides them. */

const volumeModeColumn = wide('VolumeMode', 'string', 'Whether the volume is a file system or a raw device.')
const attributesColumn = column('VolumeAttributesClass', 'string', 'Class of the attributes that can be changed later.')

export const persistentVolumePrinter: Printer<PersistentVolume> = {
  columns: [
    nameColumn,
    column('Capacity', 'string', 'Size of the volume.'),
    column('Access Modes', 'string', 'How the volume may be mounted, in short.'),
    column('Reclaim Policy', 'string', 'What becomes of the volume when its claim is gone.'),
    column('Status', 'string', 'Where the volume is in its life.'),
    column('Claim', 'string', 'Claim that the volume is bound to.'),
    column('StorageClass', 'string', 'Class of the volume.'),
    attributesColumn,
    column('Reason', 'string', 'Why the volume is in its state, in a word.'),
    ageColumn,
    volumeModeColumn,
  ],
  cells({ metadata, spec, status }, { now, profile = stockProfile }) {
    const claim = spec?.claimRef
    return [
      metadata.name ?? '',
      spec?.capacity?.storage ?? '0',
      accessModesText(spec?.accessModes),
      spec?.persistentVolumeReclaimPolicy ?? '',
      metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
      claim === undefined ? '' : `${claim.namespace ?? ''}/${claim.name ?? ''}`,
      metadata.annotations?.[`volume.beta.${profile.domain}/storage-class`] ?? spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? '<unset>',
      status?.reason ?? '',
      since(metadata.creationTimestamp, now),
      spec?.volumeMode ?? '<unset>',
    ]
  },
}

export const persistentVolumeClaimPrinter: Printer<PersistentVolumeClaim> = {
  columns: [
    nameColumn,
    column('Status', 'string', 'Where the claim is in its life.'),
    column('Volume', 'string', 'Volume that the claim is bound to.'),
    column('Capacity', 'string', 'Size of that volume.'),
    column('Access Modes', 'string', 'How that volume may be mounted, in short.'),
    column('StorageClass', 'string', 'Class from which a volume is asked.'),
    attributesColumn,
    ageColumn,
    volumeModeColumn,
  ],
  cells({ metadata, spec, status }, { now, profile = stockProfile }) {
    const bound = Boolean(spec?.volumeName)
    return [
      metadata.name ?? '',
      metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
      spec?.volumeName ?? '',
      bound ? (status?.capacity?.storage ?? '0') : '',
      bound ? accessModesText(status?.accessModes) : '',
      metadata.annotations?.[`volume.beta.${profile.domain}/storage-class`] ?? spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? '<unset>',
      since(metadata.creationTimestamp, now),
      spec?.volumeMode ?? '<unset>',
    ]
  },
}

export const storageClassPrinter: Printer<StorageClass> = {
  columns: [
    nameColumn,
    column('Provisioner', 'string', 'Driver that makes volumes of the class.'),
    column('ReclaimPolicy', 'string', 'What becomes of a volume when its claim is gone.'),
    column('VolumeBindingMode', 'string', 'Whether volumes are made at once or for the first pod.'),
    column('AllowVolumeExpansion', 'string', 'Whether volumes can grow.'),
    ageColumn,
  ],
  cells(storageClass, { now, profile = stockProfile }) {
    const { metadata } = storageClass
    const isDefault = [`storageclass.${profile.domain}`, `storageclass.beta.${profile.domain}`].some(
      (prefix) => metadata.annotations?.[`${prefix}/is-default-class`] === 'true',
    )
    return [
      `${metadata.name ?? ''}${isDefault ? ' (default)' : ''}`,
      storageClass.provisioner ?? '',
      storageClass.reclaimPolicy ?? 'Delete',
      storageClass.volumeBindingMode ?? 'Immediate',
      storageClass.allowVolumeExpansion ?? false,
      since(metadata.creationTimestamp, now),
    ]
  },
}

export const volumeAttributesClassPrinter: Printer<VolumeAttributesClass> = {
  columns: [nameColumn, column('DriverName', 'string', 'Driver that knows the attributes.'), ageColumn],
  cells({ metadata, driverName }, { now, profile = stockProfile }) {
    const isDefault = metadata.annotations?.[`volumeattributesclass.alpha.${profile.domain}/is-default-class`] === 'true'
    return [`${metadata.name ?? ''}${isDefault ? ' (default)' : ''}`, driverName ?? '', since(metadata.creationTimestamp, now)]
  },
}

export const volumeAttachmentPrinter: Printer<VolumeAttachment> = {
  columns: [
    nameColumn,
    { ...column('Attacher', 'string', 'Driver that attaches the volume.'), format: 'name' },
    column('PV', 'string', 'Volume to be attached.'),
    column('Node', 'string', 'Node to attach it to.'),
    column('Attached', 'boolean', 'Whether it is attached.'),
    ageColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.attacher ?? '',
    spec?.source?.persistentVolumeName ?? '',
    spec?.nodeName ?? '',
    status?.attached ?? false,
    since(metadata.creationTimestamp, now),
  ],
}

export const csiNodePrinter: Printer<CSINode> = {
  columns: [nameColumn, column('Drivers', 'integer', 'Number of drivers on the node.'), ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.drivers?.length ?? 0,
    since(metadata.creationTimestamp, now),
  ],
}

export const csiDriverPrinter: Printer<CSIDriver> = {
  columns: [
    nameColumn,
    column('AttachRequired', 'boolean', 'Whether volumes are attached before they are mounted.'),
    column('PodInfoOnMount', 'boolean', 'Whether the driver is told of the pod.'),
    column('StorageCapacity', 'boolean', 'Whether the driver publishes how much room it has.'),
    column('TokenRequests', 'string', 'Audiences of the tokens the driver is given.'),
    column('RequiresRepublish', 'boolean', 'Whether the driver is called again and again for a mounted volume.'),
    column('Modes', 'string', 'Kinds of volume life the driver knows.'),
    ageColumn,
  ],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.attachRequired ?? true,
    spec?.podInfoOnMount ?? false,
    spec?.storageCapacity ?? false,
    spec?.tokenRequests ? spec.tokenRequests.map(({ audience }) => audience).join(',') : '<unset>',
    spec?.requiresRepublish ?? false,
    (spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
    since(metadata.creationTimestamp, now),
  ],
}
