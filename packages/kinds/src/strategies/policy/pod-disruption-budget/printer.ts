import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { PodDisruptionBudget } from '../../../types/policy-v1.generated.ts'

export const podDisruptionBudgetPrinter: Printer<PodDisruptionBudget> = {
  columns: [
    nameColumn,
    column('Min Available', 'string', 'Fewest pods that stay available.'),
    column('Max Unavailable', 'string', 'Most pods that may be away.'),
    column('Allowed Disruptions', 'integer', 'Pods that may be evicted now.'),
    ageColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    String(spec?.minAvailable ?? 'N/A'),
    String(spec?.maxUnavailable ?? 'N/A'),
    status?.disruptionsAllowed ?? 0,
    since(metadata.creationTimestamp, now),
  ],
}
