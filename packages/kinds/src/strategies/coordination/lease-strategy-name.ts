/** `strategy` of Leases and LeaseCandidates. */

import { validateQualifiedNameFormat } from '@krmkit/meta/names'
import type { FieldPath } from '../shared/field-path.ts'

export const oldestEmulationVersion = 'OldestEmulationVersion'

/** A name without a domain is one of Kubernetes. @param at path of the field that kube-apiserver repeats in its errors. */
export function validateStrategyName(strategy: string, at: FieldPath): void {
  const here = at.child('strategy')
  if (!strategy.includes('/')) {
    if (strategy !== oldestEmulationVersion) here.notSupported(strategy, [oldestEmulationVersion])
    return
  }
  here.invalidAll(strategy, validateQualifiedNameFormat(strategy))
}
