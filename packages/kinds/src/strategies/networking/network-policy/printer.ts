import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { selectorText } from '../../../printers/text.ts'
import type { NetworkPolicy } from '../../../types/networking-v1.generated.ts'

export const networkPolicyPrinter: Printer<NetworkPolicy> = /* @__PURE__ */ agedPrinter(
  [column('Pod-Selector', 'string', 'Labels of the pods that the policy applies to.')],
  ({ spec }) => [selectorText(spec?.podSelector ?? {})],
)
