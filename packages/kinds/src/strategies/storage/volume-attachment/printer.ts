import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { VolumeAttachment } from '../../../types/storage-v1.generated.ts'

export const volumeAttachmentPrinter: Printer<VolumeAttachment> = /* @__PURE__ */ agedPrinter(
  [
    { ...column('Attacher', 'string', 'Driver that attaches the volume.'), format: 'name' },
    column('PV', 'string', 'Persistent volume to attach.'),
    column('Node', 'string', 'Node to attach the volume to.'),
    column('Attached', 'boolean', 'Whether the volume is attached.'),
  ],
  ({ spec, status }) => [
    spec?.attacher ?? '',
    spec?.source?.persistentVolumeName ?? '',
    spec?.nodeName ?? '',
    status?.attached ?? false,
  ],
)
