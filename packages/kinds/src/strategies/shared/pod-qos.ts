/** Quality of service of a pod. */
import type { PodSpec } from '../../types/core-v1.generated.ts'
import { amount, compareAmounts, sign } from './quantities.ts'
import { own, type R } from './values.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const computed = ['cpu', 'memory'] as const

function positive(value: string | undefined): boolean {
  return value !== undefined && sign(amount(value)) > 0
}

/**
 * The QoS class of a pod by CPU and memory of its containers: `BestEffort` without requests and limits, `Guaranteed` if all
 * have equal requests and limits, otherwise `Burstable`.
 */
export function podQos(spec: R<PodSpec>): QosClass {
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
