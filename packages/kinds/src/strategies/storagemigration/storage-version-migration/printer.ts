import type { Printer } from '../../../interfaces.ts'
import { column, nameColumn } from '../../../printers/columns.ts'
import type { StorageVersionMigration } from '../../../types/storagemigration-v1alpha1.generated.ts'

export const storageVersionMigrationPrinter: Printer<StorageVersionMigration> = {
  columns: [{ ...nameColumn, format: '' }, column('Resource', 'string', 'Resource to migrate.')],
  cells({ metadata, spec }) {
    const resource = spec?.resource
    return [metadata.name ?? '', `${resource?.resource ?? ''}.${resource?.version ?? ''}.${resource?.group ?? ''}`]
  },
}
