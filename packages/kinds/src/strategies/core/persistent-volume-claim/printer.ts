import { stockProfile } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, attributesClassColumn, column, nameColumn, volumeModeColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { accessModesText } from '../../../printers/text.ts'
import type { PersistentVolumeClaim } from '../../../types/core-v1.generated.ts'

export const persistentVolumeClaimPrinter: Printer<PersistentVolumeClaim> = {
  columns: [
    nameColumn,
    column('Status', 'string', 'Phase of the claim.'),
    column('Volume', 'string', 'Volume that the claim is bound to.'),
    column('Capacity', 'string', 'Capacity of the volume.'),
    column('Access Modes', 'string', 'Access modes of the volume, abbreviated.'),
    column('StorageClass', 'string', 'Requested storage class.'),
    attributesClassColumn,
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
