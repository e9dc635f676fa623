import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, containerColumns, nameColumn, selectorColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { containerCells, labelsText, selectorText } from '../../../printers/text.ts'
import type { DaemonSet } from '../../../types/apps-v1.generated.ts'

export const daemonSetPrinter: Printer<DaemonSet> = {
  columns: [
    nameColumn,
    column('Desired', 'integer', 'Nodes that should run the pod.'),
    column('Current', 'integer', 'Nodes that run the pod and should.'),
    column('Ready', 'integer', 'Nodes on which the pod is ready.'),
    column('Up-to-date', 'integer', 'Nodes that run a pod made from the present template.'),
    column('Available', 'integer', 'Nodes on which the pod has been ready long enough.'),
    column('Node Selector', 'string', 'Labels a node must have to run the pod.'),
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
