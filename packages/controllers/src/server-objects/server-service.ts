import { parseIP } from '@krmkit/base/ip'
import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { ensureObject, hasLabels, withLabels } from './ensure-object.ts'
import { elapsedMs, maxLeaseAgeMs, resyncMs, type ServerFacts } from './interfaces.ts'
import { identityNames, serverLeases } from './server-identity.ts'

interface ServicePort {
  name?: string
  protocol?: string
  port: number
  targetPort?: number | string
}

interface Service extends ApiObject {
  spec?: { type?: string; clusterIP?: string; sessionAffinity?: string; ports?: ServicePort[] }
}

interface EndpointPort {
  name?: string
  protocol?: string
  port: number
}

interface Endpoints extends ApiObject {
  subsets?: { addresses?: { ip: string }[]; ports?: EndpointPort[] }[]
}

/** Lists that are stored empty are null. */
interface EndpointSlice extends ApiObject {
  addressType: string
  endpoints: { addresses: string[] | null; conditions?: { ready?: boolean } }[] | null
  ports?: EndpointPort[] | null
}

const services = resourceType<Service>({ group: '', version: 'v1', resource: 'services', kind: 'Service' })
const endpoints = resourceType<Endpoints>({ group: '', version: 'v1', resource: 'endpoints', kind: 'Endpoints' })
const endpointSlices = resourceType<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
})
const namespace = 'default'
const servicePort = 443

/**
 * Maintains the API service and its endpoints: this server, and other servers of the cluster while they renew their Leases.
 */
export function serverService(facts: ServerFacts): Controller {
  return {
    name: 'server-service',
    start(context) {
      const work = context.queue<'sync'>({
        async sync() {
          await ensureService(context, facts)
          if (facts.reconcilesEndpoints !== false) await ensureEndpoints(context, facts)
          return { requeueAfterMs: resyncMs }
        },
      })
      work.add('sync')
      return {
        async [Symbol.asyncDispose]() {
          // A stopping server removes its announced address, so that clients no longer connect to it.
          if (facts.address !== undefined) await facts.shared?.addresses.remove(facts.address)
        },
      }
    },
  }
}

async function ensureService(context: ControllerContext, { port, serviceAddress }: ServerFacts): Promise<void> {
  const name = context.profile.vendor
  const labels = { component: 'apiserver', provider: name }
  const ports = [{ name: 'https', protocol: 'TCP', port: servicePort, targetPort: port }]
  const spec = { type: 'ClusterIP', clusterIP: serviceAddress, sessionAffinity: 'None', ports }
  await ensureObject(context, services, { metadata: { name, namespace, labels }, spec }, (current) => {
    const isRight = current.spec?.type === spec.type && samePorts(current.spec.ports, ports)
    return isRight ? undefined : { ...current, spec: { ...current.spec, type: spec.type, ports } }
  })
}

async function ensureEndpoints(context: ControllerContext, facts: ServerFacts): Promise<void> {
  const addresses = await liveAddresses(context, facts)
  const [first] = addresses
  if (first === undefined) return
  const { vendor: name, domain } = context.profile
  const ports = [{ name: 'https', port: facts.port, protocol: 'TCP' }]
  const unmirrored = { [`endpointslice.${domain}/skip-mirror`]: 'true' }
  const subsets = [{ addresses: addresses.map((ip) => ({ ip })), ports }]
  await ensureObject(context, endpoints, { metadata: { name, namespace, labels: unmirrored }, subsets }, (current) => {
    const [subset, ...more] = current.subsets ?? []
    const known = subset?.addresses?.map(({ ip }) => ip)
    const isRight = more.length === 0 && sameTexts(known, addresses) && samePorts(subset?.ports, ports)
    return isRight && hasLabels(current, unmirrored) ? undefined : { ...withLabels(current, unmirrored), subsets }
  })
  const labels = { [`${domain}/service-name`]: name }
  const addressType = parseIP(first)?.family === 6 ? 'IPv6' : 'IPv4'
  const ready = addresses.map((address) => ({ addresses: [address], conditions: { ready: true } }))
  const slice = { metadata: { name, namespace, labels }, addressType, endpoints: ready, ports }
  await ensureObject(context, endpointSlices, slice, (current) => {
    const known = (current.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? [])
    const isRight = sameTexts(known, addresses) && samePorts(current.ports, ports) && hasLabels(current, labels)
    return isRight ? undefined : { ...withLabels(current, labels), endpoints: ready, ports }
  })
}

/** Returns the addresses of live servers in the family of this one, sorted. */
async function liveAddresses(context: ControllerContext, { address, shared }: ServerFacts): Promise<string[]> {
  if (address === undefined) return []
  if (shared !== undefined) {
    await shared.addresses.renew(address)
    return [...new Set([address, ...(await shared.addresses.list())])].sort()
  }
  const { clock, profile } = context
  const family = parseIP(address)?.family
  const named = identityNames(profile).address
  const alive = (await serverLeases(context)).filter(({ spec }) => elapsedMs(spec?.renewTime, clock) <= maxLeaseAgeMs)
  const others = alive.map(({ metadata }) => metadata.annotations?.[named] ?? '')
  return [...new Set([address, ...others.filter((other) => parseIP(other)?.family === family && other !== '')])].sort()
}

function sameTexts(known: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return known !== undefined && known.length === wanted.length && [...known].sort().every((text, i) => text === wanted[i])
}

function samePorts(known: readonly ServicePort[] | null | undefined, wanted: readonly ServicePort[]): boolean {
  return (
    known?.length === wanted.length &&
    wanted.every((port, i) => {
      const other = known[i]!
      return other.port === port.port && other.name === port.name && other.targetPort === port.targetPort
    })
  )
}
