import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { PodDisruptionBudget } from '../../../types/policy-v1.generated.ts'

export const podDisruptionBudgetPrinter: Printer<PodDisruptionBudget> = /* @__PURE__ */ agedPrinter(
  [
    column('Min Available', 'string', 'Minimum of available pods.'),
    column('Max Unavailable', 'string', 'Maximum of unavailable pods.'),
    column('Allowed Disruptions', 'integer', 'Number of pods that may be evicted now.'),
  ],
  ({ spec, status }) => [
    String(spec?.minAvailable ?? 'N/A'),
    String(spec?.maxUnavailable ?? 'N/A'),
    status?.disruptionsAllowed ?? 0,
  ],
)
