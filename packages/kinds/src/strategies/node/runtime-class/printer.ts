import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { RuntimeClass } from '../../../types/node-v1.generated.ts'

export const runtimeClassPrinter: Printer<RuntimeClass> = /* @__PURE__ */ agedPrinter(
  [column('Handler', 'string', 'Runtime configuration for pods of the class.')],
  ({ handler }) => [handler ?? ''],
)
