import type { Printer } from '../../../interfaces.ts'
import { replicaCells, replicaColumns } from '../../../printers/replicas.ts'
import { labelsText } from '../../../printers/text.ts'
import type { ReplicationController } from '../../../types/core-v1.generated.ts'

export const replicationControllerPrinter: Printer<ReplicationController> = {
  columns: replicaColumns,
  cells: (object, { now }) => replicaCells(object, now, labelsText(object.spec?.selector)),
}
