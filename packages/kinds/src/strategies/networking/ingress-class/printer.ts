import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { IngressClass } from '../../../types/networking-v1.generated.ts'

export const ingressClassPrinter: Printer<IngressClass> = /* @__PURE__ */ agedPrinter(
  [
    column('Controller', 'string', 'Controller that serves ingresses of the class.'),
    column('Parameters', 'string', 'Object with the parameters of the class.'),
  ],
  ({ spec }) => {
    const from = spec?.parameters
    const kind = from?.apiGroup === undefined || from.apiGroup === null ? from?.kind : `${from.kind}.${from.apiGroup}`
    const parameters = from === undefined ? '<none>' : `${kind}/${from.name}`
    return [spec?.controller ?? '', parameters]
  },
)
