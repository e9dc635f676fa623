import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { CSIDriver } from '../../../types/storage-v1.generated.ts'

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
