import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { Scale } from '../../../types/autoscaling-v1.generated.ts'

export const scalePrinter: Printer<Scale> = {
  columns: [
    { ...nameColumn, format: '' },
    column('Desired', 'integer', 'Desired number of pods.'),
    column('Available', 'integer', 'Current number of pods.'),
    ageColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    since(metadata.creationTimestamp, now),
  ],
}
