import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn, paramKindColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { paramKindText } from '../../../printers/text.ts'
import type { MutatingAdmissionPolicy } from '../../../types/admissionregistration-v1alpha1.generated.ts'

export const mutatingAdmissionPolicyPrinter: Printer<MutatingAdmissionPolicy> = {
  columns: [nameColumn, column('Mutations', 'integer', 'Number of mutations.'), paramKindColumn, ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.mutations?.length ?? 0,
    paramKindText(spec?.paramKind),
    since(metadata.creationTimestamp, now),
  ],
}
