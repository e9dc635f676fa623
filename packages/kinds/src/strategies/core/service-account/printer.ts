import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { ServiceAccount } from '../../../types/core-v1.generated.ts'

export const serviceAccountPrinter: Printer<ServiceAccount> = /* @__PURE__ */ agedPrinter(
  [column('Secrets', 'string', 'Number of referenced secrets.')],
  ({ secrets }) => [secrets?.length ?? 0],
)
