import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { FlowSchema } from '../../../types/flowcontrol-v1.generated.ts'

export const flowSchemaPrinter: Printer<FlowSchema> = {
  columns: [
    nameColumn,
    column('PriorityLevel', 'string', 'Priority level of matching requests.'),
    column('MatchingPrecedence', 'string', 'Order of matching; lower values come first.'),
    column('DistinguisherMethod', 'string', 'How requests are divided into flows.'),
    ageColumn,
    column('MissingPL', 'string', 'Whether the priority level does not exist.'),
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.priorityLevelConfiguration?.name ?? '',
    spec?.matchingPrecedence ?? 0,
    spec?.distinguisherMethod?.type ?? '<none>',
    since(metadata.creationTimestamp, now),
    status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  ],
  compare(a, b) {
    const byPrecedence = (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0)
    if (byPrecedence !== 0) return byPrecedence
    return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : a.metadata.name === b.metadata.name ? 0 : 1
  },
}
