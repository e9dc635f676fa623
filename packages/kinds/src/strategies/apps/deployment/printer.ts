import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, containerColumns, nameColumn, selectorColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { containerCells, readSelector } from '../../../printers/text.ts'
import type { Deployment } from '../../../types/apps-v1.generated.ts'

export const deploymentPrinter: Printer<Deployment> = {
  columns: [
    nameColumn,
    column('Ready', 'string', 'Ready pods out of the desired ones.'),
    column('Up-to-date', 'string', 'Number of pods of the current template.'),
    column('Available', 'string', 'Number of available pods.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    status?.updatedReplicas ?? 0,
    status?.availableReplicas ?? 0,
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    readSelector(spec?.selector) ?? '<invalid>',
  ],
}
