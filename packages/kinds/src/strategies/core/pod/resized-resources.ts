/** Requests and limits of a pod or container before and after a resize. */

import type { Work } from '@krmkit/base/work'
import type { ResourceRequirements } from '../../../types/core-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { isSet, type R } from '../../shared/values.ts'

type Requirements = R<ResourceRequirements> | null | undefined
type Amounts = R<Record<string, string>> | null | undefined

/** Whether an amount that was set is absent. */
export function lacksSome(now: Amounts, then: Amounts): boolean {
  return Object.keys(then ?? {}).some((name) => !Object.hasOwn(now ?? {}, name))
}

/**
 * Requests and limits with the CPU and memory of `before`.
 *
 * @param keepsOthers whether other resources remain where `before` has no list, as since 1.35.
 */
export function restoreCompute(now: Requirements, before: Requirements, keepsOthers: boolean): ResourceRequirements {
  const restored = (kind: 'limits' | 'requests'): Record<string, string> => {
    const then = before?.[kind]
    if (!isSet(then) && !keepsOthers) return {}
    const { cpu: _cpu, memory: _memory, ...others } = now?.[kind] ?? {}
    const { cpu, memory } = then ?? {}
    return { ...others, ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) }
  }
  const [limits, requests] = [restored('limits'), restored('requests')]
  return {
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
  }
}

/** A resize of the resources of a pod, which changes CPU and memory and removes nothing. @param at the path of the spec */
export function* validatePodLevelResize(now: Requirements, before: Requirements, at: FieldPath): Work {
  const place = at.child('resources')
  if (isSet(before) && !isSet(now)) {
    place.forbidden('pod-level resources cannot be removed')
    return
  }
  if (isSet(before)) {
    if (lacksSome(now?.requests, before.requests))
      place.child('requests').forbidden('pod-level resource requests cannot be removed')
    if (lacksSome(now?.limits, before.limits)) place.child('limits').forbidden('pod-level resource limits cannot be removed')
  }
  const claims = isSet(now?.claims) ? { claims: now.claims } : {}
  const masked = { ...restoreCompute(now, before, true), ...claims }
  if (!(yield* semanticEqual(masked, before ?? {}))) at.forbidden('only cpu and memory resources are mutable at pod-level')
}
