import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { APIService, APIServiceStatus } from '../../../types/apiregistration-v1.generated.ts'

export const apiServicePrinter: Printer<APIService> = /* @__PURE__ */ agedPrinter(
  [
    column('Service', 'string', 'Service that serves the group version.'),
    column('Available', 'string', 'Whether the group version is available.'),
  ],
  ({ spec, status }) => {
    const service = spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local'
    return [service, availability(status)]
  },
)

function availability(status: DeepReadonly<APIServiceStatus> | undefined): string {
  const condition = status?.conditions?.find(({ type }) => type === 'Available')
  if (condition === undefined) return 'Unknown'
  return condition.status !== 'True' && condition.reason ? `${condition.status} (${condition.reason})` : condition.status
}
