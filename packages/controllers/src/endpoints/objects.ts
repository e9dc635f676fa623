import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { EndpointPort, ObjectReference } from '../endpoint-slice/objects.ts'
import { canonicalText } from '../workloads/canonical-text.direct.ts'

/** The parts of Endpoints that the controllers read and write. */

export interface EndpointAddress {
  ip: string
  hostname?: string
  nodeName?: string
  targetRef?: ObjectReference
}

export interface EndpointSubset {
  addresses?: EndpointAddress[]
  notReadyAddresses?: EndpointAddress[]
  ports?: EndpointPort[]
}

export interface Endpoints extends ApiObject {
  subsets?: EndpointSubset[]
}

export type ReadonlyEndpoints = DeepReadonly<Endpoints>

export const endpointsResource = resourceType<Endpoints>({ group: '', version: 'v1', resource: 'endpoints', kind: 'Endpoints' })

/**
 * Combines subsets so that each address and each set of ports appears once. An address that is both ready and not ready for
 * a port counts as not ready for it.
 */
export function repackSubsets(subsets: DeepReadonly<EndpointSubset[]>): EndpointSubset[] {
  const addresses = new Map<string, EndpointAddress>()
  /** By port: whether each address is ready. */
  const readiness = new Map<string, { readonly port: EndpointPort | undefined; readonly ready: Map<string, boolean> }>()
  for (const { addresses: ready = [], notReadyAddresses = [], ports = [] } of subsets) {
    const all = [
      ...ready.map((address) => [address, true] as const),
      ...notReadyAddresses.map((address) => [address, false] as const),
    ]
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const key = canonicalText(port)
      const entry = readiness.get(key) ?? {
        port: port === undefined ? undefined : { ...port },
        ready: new Map<string, boolean>(),
      }
      readiness.set(key, entry)
      for (const [address, isReady] of all) {
        const id = `${address.ip}/${address.targetRef?.uid ?? ''}`
        if (!addresses.has(id)) addresses.set(id, structuredClone(address) as EndpointAddress)
        entry.ready.set(id, (entry.ready.get(id) ?? true) && isReady)
      }
    }
  }
  const groups = new Map<string, { readonly ready: ReadonlyMap<string, boolean>; readonly ports: EndpointPort[] }>()
  for (const { port, ready } of readiness.values()) {
    const key = [...ready]
      .map(([id, isReady]) => `${id} ${isReady}`)
      .sort()
      .join()
    const group = groups.get(key) ?? { ready, ports: [] }
    groups.set(key, group)
    if (port !== undefined) group.ports.push(port)
  }
  return [...groups.values()].map(({ ready, ports }) => toSubset(ready, ports, addresses)).sort(byText)
}

function toSubset(
  ready: ReadonlyMap<string, boolean>,
  ports: EndpointPort[],
  addresses: ReadonlyMap<string, EndpointAddress>,
): EndpointSubset {
  const withState = (state: boolean) =>
    [...ready.keys()]
      .filter((id) => ready.get(id) === state)
      .sort()
      .flatMap((id) => addresses.get(id) ?? [])
  const [readyAddresses, notReadyAddresses] = [withState(true), withState(false)]
  return {
    ...(readyAddresses.length === 0 ? {} : { addresses: readyAddresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports.length === 0 ? {} : { ports: ports.sort(byText) }),
  }
}

function byText(a: object, b: object): number {
  const [first, second] = [canonicalText(a), canonicalText(b)]
  return first < second ? -1 : first > second ? 1 : 0
}
