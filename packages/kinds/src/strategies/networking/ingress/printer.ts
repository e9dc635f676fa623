import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { loadBalancerAddresses } from '../../../printers/text.ts'
import type { Ingress, IngressRule } from '../../../types/networking-v1.generated.ts'

export const ingressPrinter: Printer<Ingress> = /* @__PURE__ */ agedPrinter(
  [
    column('Class', 'string', 'Ingress class.'),
    column('Hosts', 'string', 'Hosts of the rules; at most three.'),
    column('Address', 'string', 'Addresses of the load balancer.'),
    column('Ports', 'string', 'Ports of the load balancer.'),
  ],
  ({ spec, status }) => [
    spec?.ingressClassName ?? '<none>',
    hostsText(spec?.rules ?? []),
    loadBalancerAddresses(status?.loadBalancer?.ingress).join(','),
    spec?.tls?.length ? '80, 443' : '80',
  ],
)

/** As on kube-apiserver, every rule beyond the third counts as one more host. */
function hostsText(rules: DeepReadonly<IngressRule[]>): string {
  const hosts: string[] = []
  let more = false
  for (const { host } of rules) {
    if (hosts.length === 3) more = true
    else if (host) hosts.push(host)
  }
  if (hosts.length === 0) return '*'
  return more ? `${hosts.join(',')} + ${rules.length - 3} more...` : hosts.join(',')
}
