import { parseIP } from '@krmkit/base/ip'
import { resourceType } from '@krmkit/client'
import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import { EventRecorder, type RecordedEvent } from '../events/event-recorder.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'

interface Service extends ApiObject {
  spec?: { type?: string; clusterIPs?: string[] }
}

interface IPAddress extends ApiObject {
  spec?: { parentRef?: { group?: string; resource: string; namespace?: string; name: string } }
}

const services = resourceType<Service>({ group: '', version: 'v1', resource: 'services', kind: 'Service' })
const ipAddresses = resourceType<IPAddress>({
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'ipaddresses',
  kind: 'IPAddress',
  namespaced: false,
})

/** Maximum time that the creation of a service takes. A younger IPAddress may belong to a service that is not stored yet. */
const creationMs = 60_000

/**
 * Maintains an IPAddress for each cluster IP of a service, and deletes the IPAddress objects that it manages for unused
 * addresses.
 *
 * @param options `isShared`: several servers share the store; they create IPAddress objects before services, and this
 *   controller only repairs differences
 */
export function serviceIPAddresses({ isShared }: { readonly isShared: boolean }): Controller {
  return { name: 'service-ip-addresses', start: (context) => maintainAddresses(context, isShared) }
}

function maintainAddresses(context: ControllerContext, isShared: boolean): AsyncDisposable {
  const { clock, informers, profile, queue } = context
  const names = {
    manager: { [`ipaddress.${profile.domain}/managed-by`]: `ipallocator.${profile.apiDomain}` },
    family: `ipaddress.${profile.domain}/ip-family`,
  }
  const known = informers.of(services)
  const made = informers.of(ipAddresses)
  const holders = new Map<string, DeepReadonly<Service>>()
  const recorder = isShared
    ? new EventRecorder(context, { component: 'ipallocator-repair-controller', api: 'events' })
    : undefined
  const isOurs = ({ metadata }: DeepReadonly<ApiObject>) =>
    Object.entries(names.manager).every(([key, value]) => metadata.labels?.[key] === value)
  const claimMissing = async (address: string, holder: DeepReadonly<Service>) => {
    if (await claim(context, address, holder, names)) await recorder?.record(holder, notAllocated(address))
  }
  const removeUnused = async (address: string, current: DeepReadonly<IPAddress>) => {
    const ageMs = clock.now() - Date.parse(current.metadata.creationTimestamp ?? '')
    if (recorder !== undefined && ageMs <= creationMs) return { requeueAfterMs: creationMs - ageMs + 1000 }
    await recorder?.record(current, leaked(address, current))
    const { uid = '', resourceVersion = '' } = current.metadata
    const preconditions = { uid, resourceVersion }
    await ignoreNotFound(context.client.delete(ipAddresses, address, { preconditions, signal: context.signal }))
    return undefined
  }
  const work = queue<string>({
    async sync(address) {
      if (!known.hasSynced || !made.hasSynced) await Promise.all([known.synced, made.synced])
      const holder = holders.get(address)
      const current = made.get(address)
      if (current === undefined) {
        if (holder !== undefined) await claimMissing(address, holder)
        return undefined
      }
      if (!isOurs(current) || isOf(current, holder)) return undefined
      const { name = '', namespace } = current.spec?.parentRef ?? {}
      const other = recorder === undefined ? undefined : known.get(name, namespace)
      const isHeldTwice = holder !== undefined && other !== undefined && addressesOf(other).includes(address)
      if (!isHeldTwice) return removeUnused(address, current)
      await recorder?.record(holder, heldTwice(address))
      return undefined
    },
  })
  const take = (service: DeepReadonly<Service>) => {
    for (const address of addressesOf(service)) {
      holders.set(address, service)
      work.add(address)
    }
  }
  const release = (service: DeepReadonly<Service>) => {
    for (const address of addressesOf(service)) {
      if (holders.get(address)?.metadata.uid === service.metadata.uid) holders.delete(address)
      work.add(address)
    }
  }
  const enqueue = ({ metadata }: DeepReadonly<ApiObject>) => work.add(metadata.name ?? '')
  const subscriptions = [
    known.on({
      added: take,
      updated(service, before) {
        release(before)
        take(service)
      },
      deleted: release,
    }),
    made.on({ added: enqueue, deleted: enqueue }),
  ]
  return disposeSubscriptions(subscriptions)
}

const clusterIP = (address: string) => `Cluster IP [${familyOf(address)}]`

function notAllocated(address: string): RecordedEvent {
  const message = `${clusterIP(address)}: ${address} is not allocated; repairing`
  return { type: 'Warning', reason: 'ClusterIPNotAllocated', action: 'ClusterIPAllocation', message }
}

function heldTwice(address: string): RecordedEvent {
  const message = `${clusterIP(address)}:${address} was assigned to multiple services; please recreate service`
  return { type: 'Warning', reason: 'ClusterIPAlreadyAllocated', action: 'ClusterIPAllocation', message }
}

function leaked(address: string, { spec }: DeepReadonly<IPAddress>): RecordedEvent {
  const { namespace = '', name = '' } = spec?.parentRef ?? {}
  const message = `IPAddress: ${address} for Service ${namespace}/${name} appears to have leaked: cleaning up`
  return { type: 'Warning', reason: 'IPAddressNotAllocated', action: 'IPAddressAllocation', message }
}

function familyOf(address: string): string {
  return parseIP(address)?.family === 6 ? 'IPv6' : 'IPv4'
}

interface Names {
  readonly manager: Readonly<Record<string, string>>
  readonly family: string
}

/** @returns false when the address already has an object */
async function claim(
  { client, fieldManager, signal }: ControllerContext,
  address: string,
  { metadata: { namespace = '', name = '' } }: DeepReadonly<Service>,
  names: Names,
): Promise<boolean> {
  const labels = { ...names.manager, [names.family]: familyOf(address) }
  const parentRef = { group: '', resource: 'services', namespace, name }
  try {
    await client.create(ipAddresses, { metadata: { name: address, labels }, spec: { parentRef } }, { fieldManager, signal })
    return true
  } catch (error) {
    if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
    return false
  }
}

function addressesOf({ spec }: DeepReadonly<Service>): readonly string[] {
  if (spec?.type === 'ExternalName') return []
  return (spec?.clusterIPs ?? []).filter((address) => address !== '' && address !== 'None')
}

function isOf({ spec }: DeepReadonly<IPAddress>, service: DeepReadonly<Service> | undefined): boolean {
  if (service === undefined) return false
  const { resource, namespace, name } = spec?.parentRef ?? {}
  return resource === 'services' && namespace === service.metadata.namespace && name === service.metadata.name
}
