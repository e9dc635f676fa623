import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { ServiceCIDR } from '../../../types/networking-v1.generated.ts'

export const serviceCidrPrinter: Printer<ServiceCIDR> = {
  columns: [nameColumn, column('CIDRs', 'string', 'Ranges of cluster IPs.'), ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    (spec?.cidrs ?? []).join(','),
    since(metadata.creationTimestamp, now),
  ],
}
