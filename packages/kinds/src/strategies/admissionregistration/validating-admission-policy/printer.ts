import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column, paramKindColumn } from '../../../printers/columns.ts'
import { paramKindText } from '../../../printers/text.ts'
import type { ValidatingAdmissionPolicy } from '../../../types/admissionregistration-v1.generated.ts'

export const validatingAdmissionPolicyPrinter: Printer<ValidatingAdmissionPolicy> = /* @__PURE__ */ agedPrinter(
  [column('Validations', 'integer', 'Number of validations.'), paramKindColumn],
  ({ spec }) => [spec?.validations?.length ?? 0, paramKindText(spec?.paramKind)],
)
