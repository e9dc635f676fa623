import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { countKeys } from '../../../printers/text.ts'
import type { ConfigMap } from '../../../types/core-v1.generated.ts'

export const configMapPrinter: Printer<ConfigMap> = {
  columns: [nameColumn, column('Data', 'string', 'Number of entries.'), ageColumn],
  cells: ({ metadata, data, binaryData }, { now }) => [
    metadata.name ?? '',
    countKeys(data) + countKeys(binaryData),
    since(metadata.creationTimestamp, now),
  ],
}
