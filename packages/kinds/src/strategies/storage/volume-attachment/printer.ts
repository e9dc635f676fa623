import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { VolumeAttachment } from '../../../types/storage-v1.generated.ts'

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
