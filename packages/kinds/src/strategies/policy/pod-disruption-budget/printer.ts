import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { PodDisruptionBudget } from '../../../types/policy-v1.generated.ts'

export const podDisruptionBudgetPrinter: Printer<PodDisruptionBudget> = {
  columns: [
    nameColumn,
    column('Min Available', 'string', 'Minimum of available pods.'),
    column('Max Unavailable', 'string', 'Maximum of unavailable pods.'),
    column('Allowed Disruptions', 'integer', 'Number of pods that may be evicted now.'),
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
