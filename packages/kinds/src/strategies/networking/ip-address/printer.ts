import type { Printer } from '../../../interfaces.ts'
import { column, nameColumn } from '../../../printers/columns.ts'
import type { IPAddress } from '../../../types/networking-v1.generated.ts'

export const ipAddressPrinter: Printer<IPAddress> = {
  columns: [nameColumn, column('ParentRef', 'string', 'Object that uses the address.')],
  cells({ metadata, spec }) {
    const parent = spec?.parentRef
    if (parent === undefined || parent === null) return [metadata.name ?? '', '<none>']
    const resource = parent.group ? `${parent.resource}.${parent.group}` : parent.resource
    const path = [resource?.toLowerCase() ?? '', ...(parent.namespace ? [parent.namespace] : []), parent.name ?? '']
    return [metadata.name ?? '', path.join('/')]
  },
}
