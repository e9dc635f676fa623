import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { countKeys } from '../../../printers/text.ts'
import type { ConfigMap } from '../../../types/core-v1.generated.ts'

export const configMapPrinter: Printer<ConfigMap> = /* @__PURE__ */ agedPrinter(
  [column('Data', 'string', 'Number of entries.')],
  ({ data, binaryData }) => [countKeys(data) + countKeys(binaryData)],
)
