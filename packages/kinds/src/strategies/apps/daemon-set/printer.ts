import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, containerColumns, nameColumn, selectorColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { containerCells, labelsText, selectorText } from '../../../printers/text.ts'
import type { DaemonSet } from '../../../types/apps-v1.generated.ts'

export const daemonSetPrinter: Printer<DaemonSet> = {
  columns: [
    nameColumn,
    column('Desired', 'integer', 'Number of nodes that should run the pod.'),
    column('Current', 'integer', 'Number of those nodes that run the pod.'),
    column('Ready', 'integer', 'Number of nodes with a ready pod.'),
    column('Up-to-date', 'integer', 'Number of nodes with a pod of the current template.'),
    column('Available', 'integer', 'Number of nodes with an available pod.'),
    column('Node Selector', 'string', 'Labels of the nodes that run the pod.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    status?.desiredNumberScheduled ?? 0,
    status?.currentNumberScheduled ?? 0,
    status?.numberReady ?? 0,
    status?.updatedNumberScheduled ?? 0,
    status?.numberAvailable ?? 0,
    labelsText(spec?.template?.spec?.nodeSelector),
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    selectorText(spec?.selector),
  ],
}
