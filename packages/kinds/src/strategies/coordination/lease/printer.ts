import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { Lease } from '../../../types/coordination-v1.generated.ts'

export const leasePrinter: Printer<Lease> = /* @__PURE__ */ agedPrinter(
  [column('Holder', 'string', 'Holder of the lease.')],
  ({ spec }) => [spec?.holderIdentity ?? ''],
)
