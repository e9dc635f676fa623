import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { Namespace } from '../../../types/core-v1.generated.ts'

export const namespacePrinter: Printer<Namespace> = {
  columns: [nameColumn, column('Status', 'string', 'Phase of the namespace.'), ageColumn],
  cells: ({ metadata, status }, { now }) => [metadata.name ?? '', status?.phase ?? '', since(metadata.creationTimestamp, now)],
}
