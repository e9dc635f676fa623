import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { countKeys } from '../../../printers/text.ts'
import type { Secret } from '../../../types/core-v1.generated.ts'

export const secretPrinter: Printer<Secret> = {
  columns: [
    nameColumn,
    column('Type', 'string', 'Type of the secret.'),
    column('Data', 'string', 'Number of entries.'),
    ageColumn,
  ],
  cells: ({ metadata, type, data }, { now }) => [
    metadata.name ?? '',
    type ?? '',
    countKeys(data),
    since(metadata.creationTimestamp, now),
  ],
}
