import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { Namespace } from '../../../types/core-v1.generated.ts'

export const namespacePrinter: Printer<Namespace> = /* @__PURE__ */ agedPrinter(
  [column('Status', 'string', 'Phase of the namespace.')],
  ({ status }) => [status?.phase ?? ''],
)
