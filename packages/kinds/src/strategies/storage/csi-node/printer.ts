import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { CSINode } from '../../../types/storage-v1.generated.ts'

export const csiNodePrinter: Printer<CSINode> = {
  columns: [nameColumn, column('Drivers', 'integer', 'Number of drivers on the node.'), ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.drivers?.length ?? 0,
    since(metadata.creationTimestamp, now),
  ],
}
