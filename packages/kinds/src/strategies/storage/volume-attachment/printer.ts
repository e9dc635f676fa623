import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { VolumeAttachment } from '../../../types/storage-v1.generated.ts'

export const volumeAttachmentPrinter: Printer<VolumeAttachment> = {
  columns: [
    nameColumn,
    { ...column('Attacher', 'string', 'Driver that attaches the volume.'), format: 'name' },
    column('PV', 'string', 'Persistent volume to attach.'),
    column('Node', 'string', 'Node to attach the volume to.'),
    column('Attached', 'boolean', 'Whether the volume is attached.'),
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
