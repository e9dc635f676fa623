import { parseIP } from '@krmkit/base/ip'
import { isEmptyObject, isLargeValue } from '@krmkit/base/work'
import { type Informer, resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { IntOrString } from '@krmkit/meta/int-or-string'
import { sameJson } from '../framework/same-json.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import type { ControllerContext } from '../interfaces.ts'
import { pods, queueKey, type ReadonlyPod } from './objects.ts'
import { isFinished, isReady } from './pod-state.ts'
import { labelValues, PodsByLabel } from './pods-by-label.ts'

/** The parts of services that the endpoint controllers read; finds the pods of services. */

export interface ServicePort {
  name?: string
  protocol?: string
  port: number
  targetPort?: IntOrString
  appProtocol?: string
}

export interface Service extends ApiObject {
  spec?: {
    selector?: Record<string, string> | null
    ports?: ServicePort[]
    clusterIP?: string
    ipFamilies?: string[]
    type?: string
    publishNotReadyAddresses?: boolean
    trafficDistribution?: string
  }
}

export type ReadonlyService = DeepReadonly<Service>

export const services = resourceType<Service>({ group: '', version: 'v1', resource: 'services', kind: 'Service' })

/** Whether the endpoints of a service are determined by its selector. */
export function hasSelector({ spec }: ReadonlyService): boolean {
  return spec?.type !== 'ExternalName' && spec?.selector != null && Object.keys(spec.selector).length > 0
}

export function isHeadless({ spec }: ReadonlyService): boolean {
  return spec?.clusterIP === undefined || spec.clusterIP === '' || spec.clusterIP === 'None'
}

/** Finds the pods that services select, and reports services whose endpoints may have changed. */
export class ServicePods {
  readonly services: Informer<Service>
  readonly #context: ControllerContext
  readonly #pods: PodsByLabel
  /** Services by the first label of their selector. */
  readonly #bySelector: ObjectIndex<Service>
  readonly #changed: (key: string) => void

  /** @param changed called with the key of a service */
  constructor(context: ControllerContext, changed: (key: string) => void) {
    this.#context = context
    this.#changed = changed
    this.services = context.informers.of(services)
    this.#pods = new PodsByLabel(context)
    this.#bySelector = context.informers.index(services, 'selector', ({ metadata, spec }) =>
      labelValues(metadata.namespace, spec?.selector ?? {}).slice(0, 1),
    )
  }

  subscribe(): readonly (() => void)[] {
    const changed = (service: ReadonlyService) => this.#changed(queueKey(service))
    return [
      this.services.on({ added: changed, updated: changed, deleted: changed }),
      this.#context.informers.of(pods).on({
        added: (pod) => this.#podChanged(pod),
        updated: (pod, previous) => {
          if (sameJson(relevant(pod), relevant(previous))) return
          this.#podChanged(previous)
          this.#podChanged(pod)
        },
        deleted: (pod) => this.#podChanged(pod),
      }),
    ]
  }

  async synced(): Promise<void> {
    const { informers } = this.#context
    if (!informers.of(pods).hasSynced) await informers.of(pods).synced
    if (!this.services.hasSynced) await this.services.synced
  }

  /** Returns the pods of a service that have an address and have not ended. */
  of({ metadata, spec }: ReadonlyService): readonly ReadonlyPod[] {
    const selected = this.#pods.select(metadata.namespace ?? '', spec?.selector ?? {})
    return selected.filter((pod) => !isFinished(pod) && addressesOf(pod).length > 0)
  }

  #podChanged({ metadata }: ReadonlyPod): void {
    for (const service of this.#candidates(metadata)) {
      const selector = Object.entries(service.spec?.selector ?? {})
      if (selector.every(([key, text]) => metadata.labels?.[key] === text)) this.#changed(queueKey(service))
    }
  }

  /** Returns the services that may select a pod. */
  #candidates({ namespace = '', labels }: ReadonlyPod['metadata']): readonly ReadonlyService[] {
    if (isLargeValue(labels)) return this.services.list({ namespace }).filter(({ spec }) => !isEmptyObject(spec?.selector ?? {}))
    return labelValues(namespace, labels).flatMap((value) => this.#bySelector.get(value))
  }
}

/** Returns the parts of a pod on which the endpoints of a service depend. */
function relevant(pod: ReadonlyPod): object {
  const { metadata, spec, status } = pod
  const { labels, deletionTimestamp = '' } = metadata
  const { hostname = '', subdomain = '', nodeName = '' } = spec ?? {}
  return {
    labels,
    deletionTimestamp,
    hostname,
    subdomain,
    nodeName,
    phase: status?.phase,
    ips: addressesOf(pod),
    ready: isReady(pod),
  }
}

/** Returns the addresses of a pod, optionally of one family. */
export function addressesOf({ status }: ReadonlyPod, family?: 4 | 6): string[] {
  const all = status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP ? [status.podIP] : [])
  return family === undefined ? all : all.filter((ip) => parseIP(ip)?.family === family)
}

/** Returns the container port of a service port; undefined when a pod has no port with the name. */
export function containerPort(
  { spec }: ReadonlyPod,
  { port, targetPort = port, protocol = 'TCP' }: DeepReadonly<ServicePort>,
): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  const sidecars = spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? []
  for (const { ports = [] } of [...(spec?.containers ?? []), ...sidecars])
    for (const candidate of ports)
      if (candidate.name === targetPort && (candidate.protocol ?? 'TCP') === protocol) return candidate.containerPort
  return undefined
}

/** Returns the host name of a pod in the domain of a service. */
export function hostnameIn({ metadata }: ReadonlyService, pod: ReadonlyPod): string | undefined {
  const { hostname, subdomain } = pod.spec ?? {}
  return hostname && subdomain === metadata.name ? hostname : undefined
}
