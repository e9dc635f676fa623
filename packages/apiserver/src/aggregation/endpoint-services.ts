import type { ObjectReader } from '@krmkit/admission'
import type { ServiceResolver } from '@krmkit/admission/webhooks'
import { canonicalIP } from '@krmkit/base/ip'
import type { Random } from '@krmkit/meta'
import { readEndpoints, readService, servicePort, serviceType } from './cluster-services.ts'

const routable = ['ClusterIP', 'LoadBalancer', 'NodePort']

/**
 * Resolves services to a random endpoint address each time, for servers outside of the service network:
 * `--enable-aggregator-routing`.
 *
 * @example
 * ```ts
 * import { ObjectSet } from '@krmkit/admission'
 * import { endpointServices } from '@krmkit/apiserver/aggregation'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * const metadata = { name: 'metrics', namespace: 'shop' }
 * const spec = { type: 'ClusterIP', clusterIP: '10.96.0.10', ports: [{ port: 443 }] }
 * cluster.put({ group: '', resource: 'services' }, { apiVersion: 'v1', kind: 'Service', metadata, spec })
 * const subsets = [{ addresses: [{ ip: '10.244.0.7' }], ports: [{ port: 8443 }] }]
 * cluster.put({ group: '', resource: 'endpoints' }, { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets })
 * await endpointServices(cluster, systemRandom)({ ...metadata, port: 443 }) // { host: '10.244.0.7', port: 8443 }
 * ```
 */
export function endpointServices(reader: Pick<ObjectReader, 'get'>, random: Pick<Random, 'bytes'>): ServiceResolver {
  return ({ namespace, name, port }) => {
    const service = readService(reader, namespace, name)
    if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`)
    const type = serviceType(service)
    if (!routable.includes(type)) throw new Error(`unsupported service type ${JSON.stringify(type)}`)
    const listening = servicePort(service, port)
    if (listening === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
    const endpoints = readEndpoints(reader, namespace, name)
    if (endpoints === undefined) throw new Error(`endpoints ${JSON.stringify(name)} not found`)
    const usable = (endpoints.subsets ?? []).flatMap(({ addresses = [], ports = [] }) => {
      const target = ports.find((each) => (each.name ?? '') === (listening.name ?? ''))?.port
      return target === undefined || addresses.length === 0 ? [] : [{ addresses, port: target }]
    })
    const subset = usable[randomBelow(random, usable.length)]
    const host = canonicalIP(subset?.addresses[randomBelow(random, subset.addresses.length)]?.ip ?? '')
    if (subset === undefined || host === undefined) {
      throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
    }
    return { host, port: subset.port }
  }
}

/** A uniform integer from 0 to `count - 1`. */
function randomBelow(random: Pick<Random, 'bytes'>, count: number): number {
  if (count < 2) return 0
  const [a = 0, b = 0, c = 0] = random.bytes(3)
  return ((a << 16) | (b << 8) | c) % count
}
