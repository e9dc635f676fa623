import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { ServerFacts } from '@krmkit/controllers'
import type { Random } from '@krmkit/meta'
import { clusterAddress, firstAddress } from './addresses.ts'
import type { ServeOptions } from './serve-options.ts'

export interface ServerFactsParts
  extends Pick<ServerFacts, 'electsLeaders' | 'electionTimes' | 'hasIdentity' | 'features' | 'shared'> {
  readonly port: number
  readonly random: Random
}

/** Facts that this process publishes in the cluster. The name is stable over restarts with the same address. */
export function serverFacts(options: ServeOptions, { port, random, ...parts }: ServerFactsParts): ServerFacts {
  const host = hostname().toLowerCase()
  const digest = createHash('sha256').update(`${host} ${options.bindAddress} ${port}`).digest('hex')
  const name = `apiserver-${digest.slice(0, 26)}`
  const serviceRanges = options.serviceClusterIpRange.split(',')
  return {
    name,
    holder: `${name}_${random.uuid()}`,
    // The hostname is stored as a label value, which has at most 63 characters.
    hostname: host.slice(0, 63).replace(/[^a-z0-9]+$/, ''),
    address: clusterAddress(options),
    port,
    serviceRanges,
    serviceAddress: firstAddress(serviceRanges[0] ?? '10.0.0.0/24'),
    reconcilesEndpoints: options.endpointReconcilerType === 'lease',
    ...parts,
  }
}
