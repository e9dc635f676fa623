import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { CSIDriver } from '../../../types/storage-v1.generated.ts'

export const csiDriverPrinter: Printer<CSIDriver> = /* @__PURE__ */ agedPrinter(
  [
    column('AttachRequired', 'boolean', 'Whether volumes must be attached before mounting.'),
    column('PodInfoOnMount', 'boolean', 'Whether the driver gets information about the pod on mount.'),
    column('StorageCapacity', 'boolean', 'Whether the driver publishes its storage capacity.'),
    column('TokenRequests', 'string', 'Audiences of the tokens for the driver.'),
    column('RequiresRepublish', 'boolean', 'Whether the driver is called periodically for mounted volumes.'),
    column('Modes', 'string', 'Volume lifecycle modes of the driver.'),
  ],
  ({ spec }) => [
    spec?.attachRequired ?? true,
    spec?.podInfoOnMount ?? false,
    spec?.storageCapacity ?? false,
    spec?.tokenRequests ? spec.tokenRequests.map(({ audience }) => audience).join(',') : '<unset>',
    spec?.requiresRepublish ?? false,
    (spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
  ],
)
