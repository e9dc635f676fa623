import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { IngressClass } from '../../../types/networking-v1.generated.ts'

export const ingressClassPrinter: Printer<IngressClass> = {
  columns: [
    nameColumn,
    column('Controller', 'string', 'Controller that serves ingresses of the class.'),
    column('Parameters', 'string', 'Object with the parameters of the class.'),
    ageColumn,
  ],
  cells({ metadata, spec }, { now }) {
    const from = spec?.parameters
    const kind = from?.apiGroup === undefined || from.apiGroup === null ? from?.kind : `${from.kind}.${from.apiGroup}`
    const parameters = from === undefined ? '<none>' : `${kind}/${from.name}`
    return [metadata.name ?? '', spec?.controller ?? '', parameters, since(metadata.creationTimestamp, now)]
  },
}
