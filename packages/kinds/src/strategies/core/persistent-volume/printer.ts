import { stockProfile } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, attributesClassColumn, column, nameColumn, volumeModeColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { accessModesText } from '../../../printers/text.ts'
import type { PersistentVolume } from '../../../types/core-v1.generated.ts'

export const persistentVolumePrinter: Printer<PersistentVolume> = {
  columns: [
    nameColumn,
    column('Capacity', 'string', 'Capacity of the volume.'),
    column('Access Modes', 'string', 'Access modes of the volume, abbreviated.'),
    column('Reclaim Policy', 'string', 'What happens to the volume when its claim is deleted.'),
    column('Status', 'string', 'Phase of the volume.'),
    column('Claim', 'string', 'Claim that the volume is bound to.'),
    column('StorageClass', 'string', 'Storage class of the volume.'),
    attributesClassColumn,
    column('Reason', 'string', 'Reason of the phase.'),
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
