import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { ResourceSlice } from '../../../types/resource-v1beta1.generated.ts'

export const resourceSlicePrinter: Printer<ResourceSlice> = {
  columns: [
    nameColumn,
    column('Node', 'string', 'Node of the devices.'),
    column('Driver', 'string', 'Driver of the devices.'),
    column('Pool', 'string', 'Pool of the devices.'),
    ageColumn,
  ],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.nodeName ?? '',
    spec?.driver ?? '',
    spec?.pool?.name ?? '',
    since(metadata.creationTimestamp, now),
  ],
}
