import { stockProfile } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { VolumeAttributesClass } from '../../../types/storage-v1beta1.generated.ts'

export const volumeAttributesClassPrinter: Printer<VolumeAttributesClass> = {
  columns: [nameColumn, column('DriverName', 'string', 'Driver of the attributes.'), ageColumn],
  cells({ metadata, driverName }, { now, profile = stockProfile }) {
    const isDefault = metadata.annotations?.[`volumeattributesclass.alpha.${profile.domain}/is-default-class`] === 'true'
    return [`${metadata.name ?? ''}${isDefault ? ' (default)' : ''}`, driverName ?? '', since(metadata.creationTimestamp, now)]
  },
}
