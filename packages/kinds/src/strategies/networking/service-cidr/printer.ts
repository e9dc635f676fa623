import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { ServiceCIDR } from '../../../types/networking-v1.generated.ts'

export const serviceCidrPrinter: Printer<ServiceCIDR> = /* @__PURE__ */ agedPrinter(
  [column('CIDRs', 'string', 'Ranges of cluster IPs.')],
  ({ spec }) => [(spec?.cidrs ?? []).join(',')],
)
