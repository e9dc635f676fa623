import { resourceType } from '@krmkit/client'
import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import { parseIP } from '@krmkit/meta/ip'
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

/** Maintains an IPAddress for each cluster IP of a service, and deletes its own for unused addresses. */
export const serviceIPAddresses: Controller = {
  name: 'service-ip-addresses',
  start(context) {
    const { informers, profile, queue } = context
    const names = {
      manager: { [`ipaddress.${profile.domain}/managed-by`]: `ipallocator.${profile.apiDomain}` },
      family: `ipaddress.${profile.domain}/ip-family`,
    }
    const known = informers.of(services)
    const made = informers.of(ipAddresses)
    const holders = new Map<string, DeepReadonly<Service>>()
    const isOurs = ({ metadata }: DeepReadonly<ApiObject>) =>
      Object.entries(names.manager).every(([key, value]) => metadata.labels?.[key] === value)
    const work = queue<string>({
      async sync(address) {
        if (!known.hasSynced || !made.hasSynced) await Promise.all([known.synced, made.synced])
        const holder = holders.get(address)
        const current = made.get(address)
        if (holder !== undefined && current === undefined) await claim(context, address, holder, names)
        else if (current !== undefined && isOurs(current) && !isOf(current, holder)) {
          const { uid = '', resourceVersion = '' } = current.metadata
          const preconditions = { uid, resourceVersion }
          await ignoreNotFound(context.client.delete(ipAddresses, address, { preconditions, signal: context.signal }))
        }
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
  },
}

interface Names {
  readonly manager: Readonly<Record<string, string>>
  readonly family: string
}

async function claim(
  { client, fieldManager, signal }: ControllerContext,
  address: string,
  { metadata: { namespace = '', name = '' } }: DeepReadonly<Service>,
  names: Names,
): Promise<void> {
  const labels = { ...names.manager, [names.family]: parseIP(address)?.family === 6 ? 'IPv6' : 'IPv4' }
  const parentRef = { group: '', resource: 'services', namespace, name }
  try {
    await client.create(ipAddresses, { metadata: { name: address, labels }, spec: { parentRef } }, { fieldManager, signal })
  } catch (error) {
    if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
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
