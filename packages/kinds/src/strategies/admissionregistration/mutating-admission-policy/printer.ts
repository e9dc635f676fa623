import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column, paramKindColumn } from '../../../printers/columns.ts'
import { paramKindText } from '../../../printers/text.ts'
import type { MutatingAdmissionPolicy } from '../../../types/admissionregistration-v1alpha1.generated.ts'

export const mutatingAdmissionPolicyPrinter: Printer<MutatingAdmissionPolicy> = /* @__PURE__ */ agedPrinter(
  [column('Mutations', 'integer', 'Number of mutations.'), paramKindColumn],
  ({ spec }) => [spec?.mutations?.length ?? 0, paramKindText(spec?.paramKind)],
)
