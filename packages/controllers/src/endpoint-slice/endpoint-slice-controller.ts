import type { Informer } from '@krmkit/client'
import { nameRules } from '@krmkit/meta'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { controllerReference } from '../workloads/claims.ts'
import { type Node, nodes, type ReadonlyPod, splitKey } from '../workloads/objects.ts'
import { isReady, isTerminating } from '../workloads/pod-state.ts'
import {
  addressesOf,
  containerPort,
  hasSelector,
  hostnameIn,
  isHeadless,
  type ReadonlyService,
  ServicePods,
  services,
} from '../workloads/services.ts'
import { type Endpoint, type EndpointPort, type EndpointSlice, type SliceLabels, sliceLabelsOf } from './objects.ts'
import { type EndpointGroup, planSlices, portsKey } from './plan.ts'
import { SliceStore } from './slice-store.ts'

const maxEndpointsPerSlice = 100

/**
 * Maintains the endpoint slices of services with a selector.
 *
 * Differs: pods that have an address but no node are included, so that tests need not bind their pods.
 */
export const endpointSliceController: Controller = {
  name: 'endpointslice-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new EndpointSliceController(context).subscriptions),
}

class EndpointSliceController {
  readonly #context: ControllerContext
  readonly #managedBy: string
  readonly #labels: SliceLabels
  readonly #nodes: Informer<Node>
  readonly #pods: ServicePods
  readonly #slices: SliceStore
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, profile, rateLimit } = context
    this.#context = context
    this.#managedBy = `endpointslice-controller.${profile.apiDomain}`
    this.#labels = sliceLabelsOf(profile)
    this.#nodes = informers.of(nodes)
    this.#slices = new SliceStore(context, this.#managedBy)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit })
    const enqueue = (key: string) => queue.add(key)
    this.#pods = new ServicePods(context, enqueue)
    const enqueueAll = () => {
      for (const { metadata } of this.#pods.services.list()) enqueue(`${metadata.namespace ?? ''}/${metadata.name ?? ''}`)
    }
    const zoneOf = ({ metadata }: { readonly metadata: Readonly<Node['metadata']> }) => metadata.labels?.[this.#zoneLabel()]
    this.subscriptions = [
      ...this.#pods.subscribe(),
      this.#slices.subscribe(enqueue),
      this.#nodes.on({
        added: enqueueAll,
        updated(node, previous) {
          if (zoneOf(node as Node) !== zoneOf(previous as Node)) enqueueAll()
        },
        deleted: enqueueAll,
      }),
    ]
  }

  async #sync(key: string): Promise<undefined> {
    await this.#pods.synced()
    await this.#slices.synced()
    if (!this.#nodes.hasSynced) await this.#nodes.synced
    const { namespace, name } = splitKey(key)
    const service = this.#pods.services.get(name, namespace)
    const existing = this.#slices.of(key)
    if (service === undefined || existing === undefined || !hasSelector(service)) return undefined
    const pods = this.#pods.of(service)
    const types = addressTypesOf(service)
    const isOwned = ({ metadata }: (typeof existing)[number]) =>
      metadata.ownerReferences?.some(({ uid, kind }) => kind === services.kind && uid === service.metadata.uid) ?? false
    const foreign = existing.filter((slice) => !isOwned(slice) || !types.includes(slice.addressType ?? ''))
    await this.#slices.apply(key, { create: [], update: [], delete: foreign }, { mayCreate: false })
    for (const addressType of types) {
      const plan = planSlices({
        existing: existing.filter((slice) => isOwned(slice) && slice.addressType === addressType),
        groups: this.#groupsOf(service, pods, addressType),
        build: (ports) => this.#buildSlice(service, ports, addressType),
        maxPerSlice: maxEndpointsPerSlice,
        keepsPlaceholder: true,
      })
      await this.#slices.apply(key, plan, { mayCreate: service.metadata.deletionTimestamp === undefined })
    }
    return undefined
  }

  /** Groups the endpoints of pods by their ports. A named target port can resolve to different numbers on different pods. */
  #groupsOf(service: ReadonlyService, pods: readonly ReadonlyPod[], addressType: string): readonly EndpointGroup[] {
    const groups = new Map<string, EndpointGroup>()
    for (const pod of pods) {
      const ports = portsOf(service, pod)
      const key = portsKey(ports)
      let group = groups.get(key)
      if (group === undefined) {
        group = { ports, endpoints: [] }
        groups.set(key, group)
      }
      const endpoint = this.#endpointOf(service, pod, addressType === 'IPv6' ? 6 : 4)
      if (endpoint !== undefined) group.endpoints.push(endpoint)
    }
    return [...groups.values()]
  }

  #endpointOf(service: ReadonlyService, pod: ReadonlyPod, family: 4 | 6): Endpoint | undefined {
    const addresses = addressesOf(pod, family)
    const { name = '', namespace = '', uid = '' } = pod.metadata
    const { nodeName } = pod.spec ?? {}
    const node = nodeName ? this.#nodes.get(nodeName) : undefined
    const publishAll = service.spec?.publishNotReadyAddresses === true
    if (addresses.length === 0 || (nodeName && node === undefined && !publishAll)) return undefined
    const serving = isReady(pod)
    const terminating = isTerminating(pod)
    const ready = publishAll || (serving && !terminating)
    const hostname = hostnameIn(service, pod)
    const zone = node?.metadata.labels?.[this.#zoneLabel()]
    const hasHint = zone !== undefined && ready && service.spec?.trafficDistribution === 'PreferClose'
    return {
      addresses,
      conditions: { ready, serving, terminating },
      ...(hostname === undefined ? {} : { hostname }),
      targetRef: { kind: 'Pod', namespace, name, uid },
      ...(nodeName ? { nodeName } : {}),
      ...(zone === undefined ? {} : { zone }),
      ...(hasHint ? { hints: { forZones: [{ name: zone }] } } : {}),
    }
  }

  #buildSlice(service: ReadonlyService, ports: readonly EndpointPort[], addressType: string): EndpointSlice {
    const { name = '', namespace = '', labels } = service.metadata
    const prefix = nameRules.dns1123Subdomain(`${name}-`, true).length === 0 ? `${name}-` : name
    const own = { [this.#labels.service]: name, [this.#labels.managedBy]: this.#managedBy }
    const { [this.#labels.headless]: _, ...copied } = { ...labels }
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: prefix,
        namespace,
        labels: { ...copied, ...(isHeadless(service) ? { [this.#labels.headless]: '' } : {}), ...own },
        ownerReferences: [controllerReference(service, services)],
      },
      addressType,
      endpoints: [],
      ports: [...ports],
    }
  }

  #zoneLabel(): string {
    return `topology.${this.#context.profile.domain}/zone`
  }
}

function addressTypesOf({ spec }: ReadonlyService): readonly string[] {
  return spec?.ipFamilies?.filter((family) => family === 'IPv4' || family === 'IPv6') ?? ['IPv4']
}

function portsOf({ spec }: ReadonlyService, pod: ReadonlyPod): EndpointPort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const port = containerPort(pod, servicePort)
    if (port === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return [{ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) }]
  })
}
