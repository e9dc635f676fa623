import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { RuntimeClass } from '../../../types/node-v1.generated.ts'

export const runtimeClassPrinter: Printer<RuntimeClass> = {
  columns: [nameColumn, column('Handler', 'string', 'Runtime configuration for pods of the class.'), ageColumn],
  cells: ({ metadata, handler }, { now }) => [metadata.name ?? '', handler ?? '', since(metadata.creationTimestamp, now)],
}
