import { parseIP } from '@krmkit/base/ip'
import type { Informer } from '@krmkit/client'
import { nameRules } from '@krmkit/meta'
import {
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  type SliceLabels,
  sliceLabelsOf,
} from '../endpoint-slice/objects.ts'
import { type EndpointGroup, planSlices } from '../endpoint-slice/plan.ts'
import { SliceStore } from '../endpoint-slice/slice-store.ts'
import {
  type EndpointAddress,
  type Endpoints,
  endpointsResource,
  type ReadonlyEndpoints,
  repackSubsets,
} from '../endpoints/objects.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { controllerReference } from '../workloads/claims.ts'
import { queueKey, splitKey } from '../workloads/objects.ts'
import { type ReadonlyService, type Service, services } from '../workloads/services.ts'

const maxPerSubset = 1000

/** Mirrors the Endpoints that users write, for services without a selector, to endpoint slices. */
export const endpointSliceMirroringController: Controller = {
  name: 'endpointslice-mirroring-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new MirroringController(context).subscriptions),
}

class MirroringController {
  readonly #context: ControllerContext
  readonly #labels: SliceLabels
  readonly #managedBy: string
  readonly #services: Informer<Service>
  readonly #endpoints: Informer<Endpoints>
  readonly #slices: SliceStore
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, profile, rateLimit } = context
    this.#context = context
    this.#labels = sliceLabelsOf(profile)
    this.#managedBy = `endpointslicemirroring-controller.${profile.apiDomain}`
    this.#services = informers.of(services)
    this.#endpoints = informers.of(endpointsResource)
    this.#slices = new SliceStore(context, this.#managedBy)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    const enqueue = (object: ReadonlyEndpoints | ReadonlyService) => queue.add(queueKey(object))
    this.subscriptions = [
      this.#services.on({ added: enqueue, updated: enqueue, deleted: enqueue }),
      this.#endpoints.on({ added: enqueue, updated: enqueue, deleted: enqueue }),
      this.#slices.subscribe((key) => queue.add(key)),
    ]
  }

  async #sync(key: string): Promise<undefined> {
    if (!this.#services.hasSynced) await this.#services.synced
    if (!this.#endpoints.hasSynced) await this.#endpoints.synced
    await this.#slices.synced()
    const { namespace, name } = splitKey(key)
    const existing = this.#slices.of(key)
    if (existing === undefined) return undefined
    const endpoints = this.#endpoints.get(name, namespace)
    const isMirrored = endpoints !== undefined && this.#isMirrored(endpoints, this.#services.get(name, namespace))
    if (!isMirrored) {
      await this.#slices.apply(key, { create: [], update: [], delete: [...existing] }, { mayCreate: false })
      return undefined
    }
    for (const addressType of ['IPv4', 'IPv6']) {
      const plan = planSlices({
        existing: existing.filter((slice) => slice.addressType === addressType),
        groups: groupsOf(endpoints, addressType),
        build: (ports) => this.#buildSlice(endpoints, ports, addressType),
        maxPerSlice: maxPerSubset,
        keepsPlaceholder: false,
      })
      await this.#slices.apply(key, plan, { mayCreate: endpoints.metadata.deletionTimestamp === undefined })
    }
    return undefined
  }

  #isMirrored({ metadata }: ReadonlyEndpoints, service: ReadonlyService | undefined): boolean {
    if (metadata.labels?.[this.#labels.skipMirror] === 'true') return false
    if (metadata.annotations?.['control-plane.alpha.kubernetes.io/leader'] !== undefined) return false
    return service !== undefined && service.spec?.selector == null
  }

  #buildSlice(endpoints: ReadonlyEndpoints, ports: readonly EndpointPort[], addressType: string): EndpointSlice {
    const { domain } = this.#context.profile
    const { name = '', namespace = '', labels, annotations } = endpoints.metadata
    const dropped = [`endpoints.${domain}/last-change-trigger-time`, `kubectl.${domain}/last-applied-configuration`]
    const kept = Object.entries(annotations ?? {}).filter(([key]) => !dropped.includes(key))
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: nameRules.dns1123Subdomain(`${name}-`, true).length === 0 ? `${name}-` : name,
        namespace,
        labels: { ...labels, [this.#labels.service]: name, [this.#labels.managedBy]: this.#managedBy },
        annotations: Object.fromEntries(kept),
        ownerReferences: [controllerReference(endpoints, endpointsResource)],
      },
      addressType,
      endpoints: [],
      ports: [...ports],
    }
  }
}

function groupsOf({ subsets = [] }: ReadonlyEndpoints, addressType: string): EndpointGroup[] {
  return repackSubsets(subsets).flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const all = [
      ...addresses.map((address) => toEndpoint(address, true)),
      ...notReadyAddresses.map((address) => toEndpoint(address, false)),
    ]
    const endpoints = all.slice(0, maxPerSubset).filter(({ addresses: [ip = ''] }) => typeOf(ip) === addressType)
    const slicePorts = ports.map(({ name = '', ...port }) => ({ name, ...port }))
    return endpoints.length === 0 ? [] : [{ ports: slicePorts, endpoints }]
  })
}

function typeOf(ip: string): string | undefined {
  const family = parseIP(ip)?.family
  return family === undefined ? undefined : `IPv${family}`
}

function toEndpoint({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName === undefined ? {} : { nodeName }),
  }
}
