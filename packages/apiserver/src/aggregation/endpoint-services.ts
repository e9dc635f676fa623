import type { ObjectReader } from '@krmkit/admission'
import type { ServiceResolver } from '@krmkit/admission/webhooks'
import type { Random } from '@krmkit/meta'
import { readEndpoints, readService, servicePort, serviceType } from './cluster-services.ts'

const routable = ['ClusterIP', 'LoadBalancer', 'NodePort']

/**
 * Resolves services to a random endpoint address each time, for servers outside of the service network:
 * `--enable-aggregator-routing`.
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
    const address = subset?.addresses[randomBelow(random, subset.addresses.length)]?.ip
    if (subset === undefined || address === undefined) {
      throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
    }
    return { host: address, port: subset.port }
  }
}

/** A uniform integer from 0 to `count - 1`. */
function randomBelow(random: Pick<Random, 'bytes'>, count: number): number {
  if (count < 2) return 0
  const [a = 0, b = 0, c = 0] = random.bytes(3)
  return ((a << 16) | (b << 8) | c) % count
}
