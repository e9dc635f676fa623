import type { Printer } from '../../../interfaces.ts'
import { replicaCells, replicaColumns } from '../../../printers/replicas.ts'
import { selectorText } from '../../../printers/text.ts'
import type { ReplicaSet } from '../../../types/apps-v1.generated.ts'

export const replicaSetPrinter: Printer<ReplicaSet> = {
  columns: replicaColumns,
  cells: (object, { now }) => replicaCells(object, now, selectorText(object.spec?.selector)),
}
