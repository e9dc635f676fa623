import { canonicalIP, connectableHost } from '@krmkit/base/ip'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { ObjectReader } from '../interfaces.ts'
import type { ServiceResolver } from './interfaces.ts'

interface Service extends ApiObject {
  spec?: { type?: string; clusterIP?: string; externalName?: string; ports?: { port?: number }[] }
}

/**
 * Resolves services to their cluster IP or external name, as kube-apiserver does by default.
 *
 * @example
 * ```ts
 * import { ObjectSet } from '@krmkit/admission'
 * import { createClusterServiceResolver } from '@krmkit/admission/webhooks'
 *
 * const cluster = new ObjectSet()
 * const spec = { clusterIP: '10.96.0.10', ports: [{ port: 443 }] }
 * const metadata = { name: 'hook', namespace: 'shop' }
 * cluster.put({ group: '', resource: 'services' }, { apiVersion: 'v1', kind: 'Service', metadata, spec })
 * createClusterServiceResolver(cluster)({ ...metadata, port: 443 }) // { host: '10.96.0.10', port: 443 }
 * ```
 */
export function createClusterServiceResolver(reader: Pick<ObjectReader, 'get'>): ServiceResolver {
  return ({ namespace, name, port }) => {
    const found = reader.get({ group: '', resource: 'services' }, namespace, name)
    if (found === undefined) throw new Error(`service ${JSON.stringify(name)} not found`)
    const { spec = {} } = found as DeepReadonly<Service>
    if (spec.type === 'ExternalName') {
      const host = connectableHost(spec.externalName ?? '')
      if (host === undefined) throw new Error(`lookup ${spec.externalName}: no such host`)
      return { host, port }
    }
    if (!(spec.ports ?? []).some((each) => each.port === port)) {
      throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
    }
    const { clusterIP = '' } = spec
    const host = canonicalIP(clusterIP)
    if (host === undefined) {
      throw new Error(
        `cluster IP of service ${JSON.stringify(`${namespace}/${name}`)} is not usable: ${JSON.stringify(clusterIP)}`,
      )
    }
    return { host, port }
  }
}
