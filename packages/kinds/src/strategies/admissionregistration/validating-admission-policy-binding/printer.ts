import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { readSelector } from '../../../printers/text.ts'
import type { ParamRef, ValidatingAdmissionPolicyBinding } from '../../../types/admissionregistration-v1.generated.ts'

/** Serves bindings of validating and of mutating policies. */
export const admissionPolicyBindingPrinter: Printer<ValidatingAdmissionPolicyBinding> = /* @__PURE__ */ agedPrinter(
  [column('PolicyName', 'string', 'Policy that the binding applies.'), column('ParamRef', 'string', 'Parameter objects.')],
  ({ spec }) => [spec?.policyName ?? '', paramRefText(spec?.paramRef)],
)

function paramRefText(ref: DeepReadonly<ParamRef> | undefined): string {
  if (ref?.name) return `${ref.namespace || '*'}/${ref.name}`
  return ref?.selector === undefined ? '<unset>' : (readSelector(ref.selector) ?? '<error>')
}
