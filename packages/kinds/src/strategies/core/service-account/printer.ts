import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { ServiceAccount } from '../../../types/core-v1.generated.ts'

export const serviceAccountPrinter: Printer<ServiceAccount> = {
  columns: [nameColumn, column('Secrets', 'string', 'Number of referenced secrets.'), ageColumn],
  cells: ({ metadata, secrets }, { now }) => [metadata.name ?? '', secrets?.length ?? 0, since(metadata.creationTimestamp, now)],
}
