import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { Lease } from '../../../types/coordination-v1.generated.ts'

export const leasePrinter: Printer<Lease> = {
  columns: [nameColumn, column('Holder', 'string', 'Holder of the lease.'), ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.holderIdentity ?? '',
    since(metadata.creationTimestamp, now),
  ],
}
