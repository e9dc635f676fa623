import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, containerColumns, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { containerCells } from '../../../printers/text.ts'
import type { StatefulSet } from '../../../types/apps-v1.generated.ts'

export const statefulSetPrinter: Printer<StatefulSet> = {
  columns: [nameColumn, column('Ready', 'string', 'Ready pods out of the desired ones.'), ageColumn, ...containerColumns],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
  ],
}
