import { type DeepReadonly, Quantity } from '@krmkit/meta'
import type { Pod } from './pod.ts'

/** Whether the pod has QoS class BestEffort: no container requests or limits CPU or memory. */
export function isBestEffort({ spec, status }: DeepReadonly<Pod>): boolean {
  if (status?.qosClass !== undefined && status.qosClass !== '') return status.qosClass === 'BestEffort'
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].every(
    ({ resources }) => isUnset(resources?.requests) && isUnset(resources?.limits),
  )
}

const qosResources = ['cpu', 'memory']

function isUnset(amounts: DeepReadonly<Record<string, string>> | undefined): boolean {
  return qosResources.every((name) => {
    const amount = amounts !== undefined && Object.hasOwn(amounts, name) ? amounts[name] : undefined
    return amount === undefined || Quantity.parse(amount).sign() <= 0
  })
}
