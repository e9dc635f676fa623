import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { CSINode } from '../../../types/storage-v1.generated.ts'

export const csiNodePrinter: Printer<CSINode> = /* @__PURE__ */ agedPrinter(
  [column('Drivers', 'integer', 'Number of drivers on the node.')],
  ({ spec }) => [spec?.drivers?.length ?? 0],
)
