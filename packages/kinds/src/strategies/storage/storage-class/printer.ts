import { stockProfile } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { StorageClass } from '../../../types/storage-v1.generated.ts'

export const storageClassPrinter: Printer<StorageClass> = {
  columns: [
    nameColumn,
    column('Provisioner', 'string', 'Driver that provisions volumes of the class.'),
    column('ReclaimPolicy', 'string', 'What happens to a volume when its claim is deleted.'),
    column('VolumeBindingMode', 'string', 'Whether volumes are provisioned immediately or for the first pod.'),
    column('AllowVolumeExpansion', 'string', 'Whether volumes can be expanded.'),
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
