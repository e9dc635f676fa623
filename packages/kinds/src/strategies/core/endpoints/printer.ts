import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { firstFew } from '../../../printers/text.ts'
import type { Endpoints } from '../../../types/core-v1.generated.ts'

export const endpointsPrinter: Printer<Endpoints> = /* @__PURE__ */ agedPrinter(
  [column('Endpoints', 'string', 'Addresses and ports of the endpoints; at most three.')],
  ({ subsets }) => [endpointsText(subsets)],
)

const shownEndpoints = 3

function endpointText(ip: string, port: number | undefined): string {
  if (port === undefined) return ip
  return `${ip.includes(':') ? `[${ip}]` : ip}:${port}`
}

function endpointsText(subsets: DeepReadonly<Endpoints['subsets']>): string {
  if (!subsets?.length) return '<none>'
  let total = 0
  const first: string[] = []
  for (const { addresses, ports } of subsets) {
    total += (addresses?.length ?? 0) * (ports?.length || 1)
    for (const port of ports?.length ? ports.slice(0, shownEndpoints) : [undefined])
      for (const { ip } of (addresses ?? []).slice(0, shownEndpoints)) first.push(endpointText(ip, port?.port))
  }
  return firstFew(first, shownEndpoints, { total })
}
