import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { LeaseCandidate } from '../../../types/coordination-v1alpha2.generated.ts'

export const leaseCandidatePrinter: Printer<LeaseCandidate> = /* @__PURE__ */ agedPrinter(
  [
    column('LeaseName', 'string', 'Lease of the candidate.'),
    column('BinaryVersion', 'string', 'Release of the candidate.'),
    column('EmulationVersion', 'string', 'Release that the candidate emulates.'),
  ],
  ({ spec }) => [spec?.leaseName ?? '', spec?.binaryVersion ?? '', spec?.emulationVersion ?? ''],
)
