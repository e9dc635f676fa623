import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { DeviceTaintRule } from '../../../types/resource-v1alpha3.generated.ts'

export const deviceTaintRulePrinter: Printer<DeviceTaintRule> = /* @__PURE__ */ agedPrinter(
  [
    column('Key', 'string', 'Key of the taint.'),
    column('Value', 'string', 'Value of the taint.'),
    column('Effect', 'string', 'Effect of the taint.'),
    column('TimeAdded', 'string', 'Time since the taint was added.'),
  ],
  ({ spec }, { now }) => {
    const taint = spec?.taint
    return [taint?.key ?? '', taint?.value ?? '', taint?.effect ?? '', taint?.timeAdded ? since(taint.timeAdded, now) : '']
  },
)
