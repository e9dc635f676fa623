import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { countKeys } from '../../../printers/text.ts'
import type { Secret } from '../../../types/core-v1.generated.ts'

export const secretPrinter: Printer<Secret> = /* @__PURE__ */ agedPrinter(
  [column('Type', 'string', 'Type of the secret.'), column('Data', 'string', 'Number of entries.')],
  ({ type, data }) => [type ?? '', countKeys(data)],
)
