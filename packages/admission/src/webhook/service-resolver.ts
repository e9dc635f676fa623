import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { ObjectReader } from '../interfaces.ts'
import type { ServiceResolver } from './interfaces.ts'

interface Service extends ApiObject {
  spec?: { type?: string; clusterIP?: string; externalName?: string; ports?: { port?: number }[] }
}

/** Resolves services to their cluster IP or external name, as the stock server does by default. */
export function createClusterServiceResolver(reader: Pick<ObjectReader, 'get'>): ServiceResolver {
  return ({ namespace, name, port }) => {
    const found = reader.get({ group: '', resource: 'services' }, namespace, name)
    if (found === undefined) throw new Error(`service ${JSON.stringify(name)} not found`)
    const { spec = {} } = found as DeepReadonly<Service>
    if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port }
    if (!(spec.ports ?? []).some((each) => each.port === port)) {
      throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
    }
    const address = spec.clusterIP ?? ''
    if (address === '' || address === 'None') {
      throw new Error(`cluster IP of service ${JSON.stringify(`${namespace}/${name}`)} is not usable: ${JSON.stringify(address)}`)
    }
    return { host: address, port }
  }
}
