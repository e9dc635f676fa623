import type { Printer } from '../../../interfaces.ts'
import { replicaColumns } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { containerCells, labelsText } from '../../../printers/text.ts'
import type { ReplicationController } from '../../../types/core-v1.generated.ts'

export const replicationControllerPrinter: Printer<ReplicationController> = {
  columns: replicaColumns,
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    labelsText(spec?.selector),
  ],
}
