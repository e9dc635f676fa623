import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { firstFew } from '../../../printers/text.ts'
import type { StorageVersion } from '../../../types/apiserverinternal-v1alpha1.generated.ts'

export const storageVersionPrinter: Printer<StorageVersion> = /* @__PURE__ */ agedPrinter(
  [
    column('CommonEncodingVersion', 'string', 'Version that all servers encode, if it is the same.'),
    column('StorageVersions', 'string', 'Encoding version of each server; at most three.'),
  ],
  ({ status }) => {
    const written = (status?.storageVersions ?? []).map((each) => `${each.apiServerID ?? ''}=${each.encodingVersion ?? ''}`)
    return [status?.commonEncodingVersion ?? '<unset>', firstFew(written, 3) || '<unset>']
  },
)
