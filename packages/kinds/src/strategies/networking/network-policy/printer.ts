import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { selectorText } from '../../../printers/text.ts'
import type { NetworkPolicy } from '../../../types/networking-v1.generated.ts'

export const networkPolicyPrinter: Printer<NetworkPolicy> = {
  columns: [nameColumn, column('Pod-Selector', 'string', 'Labels of the pods that the policy applies to.'), ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    selectorText(spec?.podSelector ?? {}),
    since(metadata.creationTimestamp, now),
  ],
}
