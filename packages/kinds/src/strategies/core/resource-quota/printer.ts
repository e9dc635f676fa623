import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { ResourceQuota } from '../../../types/core-v1.generated.ts'

export const resourceQuotaPrinter: Printer<ResourceQuota> = /* @__PURE__ */ agedPrinter(
  [
    column('Request', 'string', 'Used and hard amount of each request and count.'),
    column('Limit', 'string', 'Used and hard amount of each limit.'),
  ],
  ({ status }) => {
    const used = (resource: string) => `${resource}: ${status?.used?.[resource] ?? '0'}/${status?.hard?.[resource] ?? '0'}`
    const resources = Object.keys(status?.hard ?? {}).sort()
    const limits = resources.filter((resource) => resource.startsWith('limits.'))
    const requests = resources.filter((resource) => !resource.startsWith('limits.'))
    return [requests.map(used).join(', '), limits.map(used).join(', ')]
  },
)
