import type { Printer } from '../../../interfaces.ts'
import { column, nameColumn } from '../../../printers/columns.ts'
import type { ComponentStatus } from '../../../types/core-v1.generated.ts'

export const componentStatusPrinter: Printer<ComponentStatus> = {
  columns: [
    nameColumn,
    column('Status', 'string', 'Whether the component is healthy.'),
    column('Message', 'string', 'Health message of the component.'),
    column('Error', 'string', 'Error of the health check.'),
  ],
  cells({ metadata, conditions }) {
    const health = conditions?.find(({ type }) => type === 'Healthy')
    const status = health === undefined ? 'Unknown' : health.status === 'True' ? 'Healthy' : 'Unhealthy'
    return [metadata.name ?? '', status, health?.message ?? '', health?.error ?? '']
  },
}
