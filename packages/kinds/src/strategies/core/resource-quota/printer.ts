import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { ResourceQuota } from '../../../types/core-v1.generated.ts'

export const resourceQuotaPrinter: Printer<ResourceQuota> = {
  columns: [
    nameColumn,
    column('Request', 'string', 'What is used of each request and count, and how much may be.'),
    column('Limit', 'string', 'What is used of each limit, and how much may be.'),
    ageColumn,
  ],
  cells({ metadata, status }, { now }) {
    const used = (resource: string) => `${resource}: ${status?.used?.[resource] ?? '0'}/${status?.hard?.[resource] ?? '0'}`
    const resources = Object.keys(status?.hard ?? {}).sort()
    const limits = resources.filter((resource) => resource.startsWith('limits.'))
    const requests = resources.filter((resource) => !resource.startsWith('limits.'))
    return [
      metadata.name ?? '',
      requests.map(used).join(', '),
      limits.map(used).join(', '),
      since(metadata.creationTimestamp, now),
    ]
  },
}
