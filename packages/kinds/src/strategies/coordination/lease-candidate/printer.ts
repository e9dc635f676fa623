import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { LeaseCandidate } from '../../../types/coordination-v1alpha2.generated.ts'

export const leaseCandidatePrinter: Printer<LeaseCandidate> = {
  columns: [
    nameColumn,
    column('LeaseName', 'string', 'Lease of the candidate.'),
    column('BinaryVersion', 'string', 'Release of the candidate.'),
    column('EmulationVersion', 'string', 'Release that the candidate emulates.'),
    ageColumn,
  ],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.leaseName ?? '',
    spec?.binaryVersion ?? '',
    spec?.emulationVersion ?? '',
    since(metadata.creationTimestamp, now),
  ],
}
