/** Quality of service of a pod. */
import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { PodSpec, ResourceRequirements } from '../../types/core-v1.generated.ts'
import { amount, compareAmounts, sign } from './quantities.ts'
import { isSet, own, type R } from './values.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const computed = ['cpu', 'memory'] as const

function positive(value: string | undefined): boolean {
  return value !== undefined && sign(amount(value)) > 0
}

/**
 * The QoS class of a pod by CPU and memory of its containers: `BestEffort` without requests and limits, `Guaranteed` if all
 * have equal requests and limits, otherwise `Burstable`.
 */
export function podQos(spec: R<PodSpec>, features: Features): QosClass {
  if (isSet(spec.resources) && gateEnabled('PodLevelResources', features)) return ownQos(spec.resources)
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  let some = false
  const requested = new Set<string>()
  let guaranteed = true
  for (const { resources } of containers) {
    for (const name of computed) {
      const limit = own(resources?.limits, name)
      const request = own(resources?.requests, name)
      if (positive(limit) || positive(request)) some = true
      if (!positive(limit) || (positive(request) && compareAmounts(limit, request) !== 0)) guaranteed = false
      if (request === undefined && limit === undefined) guaranteed = false
      if (positive(request)) requested.add(name)
    }
  }
  if (requested.size < computed.length) guaranteed = false
  if (!some) return 'BestEffort'
  return guaranteed ? 'Guaranteed' : 'Burstable'
}

/** The QoS class by the resources of the pod itself. */
function ownQos({ limits, requests }: R<ResourceRequirements>): QosClass {
  const [limited, requested] = [limits, requests].map((amounts) => computed.filter((name) => positive(own(amounts, name))))
  if (limited?.length === 0 && requested?.length === 0) return 'BestEffort'
  const isGuaranteed = computed.every((name) => {
    const limit = own(limits, name)
    return positive(limit) && compareAmounts(limit, own(requests, name)) === 0
  })
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}
