import { parseIP } from '@krmkit/base/ip'
import type { Informer } from '@krmkit/client'
import { sliceLabelsOf } from '../endpoint-slice/objects.ts'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { queueKey, type ReadonlyPod, splitKey } from '../workloads/objects.ts'
import { isNamespaceTerminating } from '../workloads/pod-control.ts'
import { isReady, isTerminating } from '../workloads/pod-state.ts'
import {
  addressesOf,
  containerPort,
  hasSelector,
  hostnameIn,
  isHeadless,
  type ReadonlyService,
  ServicePods,
} from '../workloads/services.ts'
import {
  type EndpointAddress,
  type EndpointSubset,
  type Endpoints,
  endpointsResource,
  type ReadonlyEndpoints,
  repackSubsets,
} from './objects.ts'

/** Maximum number of addresses of one object; further addresses are dropped. */
const maxAddresses = 1000

/** Maintains the Endpoints of services with a selector. */
export const endpointsController: Controller = {
  name: 'endpoints-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new EndpointsController(context).subscriptions),
}

class EndpointsController {
  readonly #context: ControllerContext
  readonly #endpoints: Informer<Endpoints>
  readonly #pods: ServicePods
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    this.#context = context
    this.#endpoints = context.informers.of(endpointsResource)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit: context.rateLimit })
    this.#pods = new ServicePods(context, (key) => queue.add(key))
    const enqueue = (endpoints: ReadonlyEndpoints) => queue.add(queueKey(endpoints))
    this.subscriptions = [...this.#pods.subscribe(), this.#endpoints.on({ added: enqueue, updated: enqueue, deleted: enqueue })]
  }

  async #sync(key: string): Promise<undefined> {
    await this.#pods.synced()
    if (!this.#endpoints.hasSynced) await this.#endpoints.synced
    const { namespace, name } = splitKey(key)
    const service = this.#pods.services.get(name, namespace)
    const existing = this.#endpoints.get(name, namespace)
    if (service === undefined) {
      await this.#deleteLeftover(existing)
      return undefined
    }
    if (!hasSelector(service)) return undefined
    const subsets = repackSubsets(this.#pods.of(service).flatMap((pod) => subsetsOf(service, pod)))
    await this.#write(service, existing, truncate(subsets))
    return undefined
  }

  /** Deletes the Endpoints of a deleted service. Endpoints of leader elections never had a service and are kept. */
  async #deleteLeftover(existing: ReadonlyEndpoints | undefined): Promise<void> {
    if (existing === undefined) return
    const { client, signal } = this.#context
    const { name = '', namespace = '', annotations, uid = '', labels } = existing.metadata
    if (annotations?.['control-plane.alpha.kubernetes.io/leader'] !== undefined || labels?.[this.#managedBy()] === undefined)
      return
    await ignoreReasons(client.delete(endpointsResource, name, { namespace, signal, preconditions: { uid } }), [
      'NotFound',
      'Conflict',
    ])
  }

  async #write(
    service: ReadonlyService,
    existing: ReadonlyEndpoints | undefined,
    { subsets, isTruncated }: { readonly subsets: EndpointSubset[]; readonly isTruncated: boolean },
  ): Promise<void> {
    const { client, fieldManager, profile, signal } = this.#context
    const { name = '', namespace = '' } = service.metadata
    const headless = sliceLabelsOf(profile).headless
    const { [headless]: _, ...copied } = { ...service.metadata.labels }
    const labels = { ...copied, ...(isHeadless(service) ? { [headless]: '' } : {}), [this.#managedBy()]: 'endpoint-controller' }
    const overCapacity = `endpoints.${profile.domain}/over-capacity`
    const { [overCapacity]: before, ...annotations } = { ...existing?.metadata.annotations }
    const hasSameState = (before === 'truncated') === isTruncated && sameJson(existing?.metadata.labels ?? {}, labels)
    if (existing !== undefined && hasSameState && sameJson(existing.subsets ?? [], subsets)) return
    const metadata = {
      ...(structuredClone(existing?.metadata ?? {}) as Endpoints['metadata']),
      name,
      namespace,
      labels,
      annotations: { ...annotations, ...(isTruncated ? { [overCapacity]: 'truncated' } : {}) },
    }
    const changed = { apiVersion: 'v1', kind: 'Endpoints', metadata, ...(subsets.length === 0 ? {} : { subsets }) }
    if (existing !== undefined) {
      // A conflicting change causes another sync.
      const request = client.update(endpointsResource, changed, { fieldManager, signal })
      await ignoreNotFound(ignoreReasons(request, ['Conflict']))
      return
    }
    try {
      await ignoreReasons(client.create(endpointsResource, changed, { fieldManager, signal }), ['AlreadyExists'])
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error
    }
  }

  #managedBy(): string {
    return `endpoints.${this.#context.profile.domain}/managed-by`
  }
}

/** Returns one subset for each port of a pod. */
function subsetsOf(service: ReadonlyService, pod: ReadonlyPod): EndpointSubset[] {
  const { publishNotReadyAddresses = false, ports = [], clusterIP } = service.spec ?? {}
  if (isTerminating(pod) && !publishNotReadyAddresses) return []
  const [ip] = addressesOf(pod, familyOf(service, pod))
  if (ip === undefined) return []
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const hostname = hostnameIn(service, pod)
  const address: EndpointAddress = {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(pod.spec?.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
  const state = publishNotReadyAddresses || isReady(pod) ? { addresses: [address] } : { notReadyAddresses: [address] }
  if (ports.length === 0) return clusterIP === 'None' ? [state] : []
  return ports.flatMap((servicePort) => {
    const port = containerPort(pod, servicePort)
    if (port === undefined) return []
    const { name: portName, protocol = 'TCP', appProtocol } = servicePort
    const optional = { ...(portName ? { name: portName } : {}), ...(appProtocol === undefined ? {} : { appProtocol }) }
    return [{ ...state, ports: [{ ...optional, port, protocol }] }]
  })
}

function familyOf({ spec }: ReadonlyService, { status }: ReadonlyPod): 4 | 6 {
  const [family] = spec?.ipFamilies ?? []
  if (family !== undefined) return family === 'IPv6' ? 6 : 4
  const address = spec?.clusterIP && spec.clusterIP !== 'None' ? spec.clusterIP : (status?.podIP ?? '')
  return parseIP(address)?.family ?? 4
}

/** Drops addresses above the limit, proportionally from all subsets, addresses that are not ready first. */
function truncate(subsets: EndpointSubset[]): { readonly subsets: EndpointSubset[]; readonly isTruncated: boolean } {
  const total = (member: 'addresses' | 'notReadyAddresses') =>
    subsets.reduce((sum, subset) => sum + (subset[member]?.length ?? 0), 0)
  const [ready, notReady] = [total('addresses'), total('notReadyAddresses')]
  if (ready + notReady <= maxAddresses) return { subsets, isTruncated: false }
  const member = ready > maxAddresses ? 'addresses' : 'notReadyAddresses'
  const [capacity, all] = member === 'addresses' ? [maxAddresses, ready] : [maxAddresses - ready, notReady]
  let rest = capacity
  for (const subset of subsets) {
    const addresses = subset[member] ?? []
    const share = Math.min(rest, Math.ceil((addresses.length / all) * capacity))
    const kept = addresses.slice(0, share)
    rest -= kept.length
    if (kept.length === 0) delete subset[member]
    else subset[member] = kept
    if (member === 'addresses') delete subset.notReadyAddresses
  }
  return { subsets, isTruncated: true }
}
