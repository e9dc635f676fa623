import { type DeepReadonly, Quantity } from '@krmkit/meta'
import type { Pod } from './pod.ts'

/** Whether no container asks for processor or memory, or is limited in them. */
export function isBestEffort({ spec, status }: DeepReadonly<Pod>): boolean {
  if (status?.qosClass !== undefined && status.qosClass !== '') return status.qosClass === 'BestEffort'
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].every(
    ({ resources }) => asksNothing(resources?.requests) && asksNothing(resources?.limits),
  )
}

const counted = ['cpu', 'memory']

function asksNothing(amounts: DeepReadonly<Record<string, string>> | undefined): boolean {
  return counted.every((name) => {
    const amount = amounts !== undefined && Object.hasOwn(amounts, name) ? amounts[name] : undefined
    return amount === undefined || Quantity.parse(amount).sign() <= 0
  })
}
