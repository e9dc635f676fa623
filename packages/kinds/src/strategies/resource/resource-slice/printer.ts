import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { ResourceSlice } from '../../../types/resource-v1beta1.generated.ts'

export const resourceSlicePrinter: Printer<ResourceSlice> = /* @__PURE__ */ agedPrinter(
  [
    column('Node', 'string', 'Node of the devices.'),
    column('Driver', 'string', 'Driver of the devices.'),
    column('Pool', 'string', 'Pool of the devices.'),
  ],
  ({ spec }) => [spec?.nodeName ?? '', spec?.driver ?? '', spec?.pool?.name ?? ''],
)
