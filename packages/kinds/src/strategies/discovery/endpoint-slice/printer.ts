import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { firstFew } from '../../../printers/text.ts'
import type { EndpointSlice } from '../../../types/discovery-v1.generated.ts'

export const endpointSlicePrinter: Printer<EndpointSlice> = /* @__PURE__ */ agedPrinter(
  [
    column('AddressType', 'string', 'Type of the addresses of all endpoints.'),
    column('Ports', 'string', 'Ports that each endpoint serves; at most three.'),
    column('Endpoints', 'string', 'Addresses of the endpoints; at most three.'),
  ],
  ({ addressType, ports, endpoints }) => {
    const numbers = (ports ?? []).map(({ port, name }) => (port !== undefined ? String(port) : (name ?? '*')))
    const addresses = (endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? [])
    return [addressType ?? '', firstFew(numbers, 3) || '<unset>', firstFew(addresses, 3) || '<unset>']
  },
)
