import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { firstFew } from '../../../printers/text.ts'
import type { StorageVersion } from '../../../types/apiserverinternal-v1alpha1.generated.ts'

export const storageVersionPrinter: Printer<StorageVersion> = {
  columns: [
    nameColumn,
    column('CommonEncodingVersion', 'string', 'Version that all servers encode, if it is the same.'),
    column('StorageVersions', 'string', 'Encoding version of each server; at most three.'),
    ageColumn,
  ],
  cells({ metadata, status }, { now }) {
    const written = (status?.storageVersions ?? []).map((each) => `${each.apiServerID ?? ''}=${each.encodingVersion ?? ''}`)
    return [
      metadata.name ?? '',
      status?.commonEncodingVersion ?? '<unset>',
      firstFew(written, 3) || '<unset>',
      since(metadata.creationTimestamp, now),
    ]
  },
}
