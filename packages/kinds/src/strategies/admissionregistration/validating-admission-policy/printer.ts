import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn, paramKindColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { paramKindText } from '../../../printers/text.ts'
import type { ValidatingAdmissionPolicy } from '../../../types/admissionregistration-v1.generated.ts'

export const validatingAdmissionPolicyPrinter: Printer<ValidatingAdmissionPolicy> = {
  columns: [nameColumn, column('Validations', 'integer', 'Number of validations.'), paramKindColumn, ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.validations?.length ?? 0,
    paramKindText(spec?.paramKind),
    since(metadata.creationTimestamp, now),
  ],
}
