import type { Stability } from './interfaces.ts'

const order: readonly Stability[] = ['alpha', 'beta', 'stable']

/**
 * Returns the stability of an API version from its name: `v1alpha1`, `v2beta3`, `v1`.
 *
 * @returns undefined when the name is not a version.
 * @example
 * import { stabilityOf } from '@krmkit/versioning'
 * stabilityOf('v1beta2') // 'beta'
 * @see API protocol specification, 9.1
 */
export function stabilityOf(version: string): Stability | undefined {
  const match = /^v[1-9][0-9]*(?:(alpha|beta)[1-9][0-9]*)?$/.exec(version)
  return match === null ? undefined : ((match[1] as Stability | undefined) ?? 'stable')
}

/**
 * Orders by stability: negative when `a` is less stable.
 *
 * @example
 * import { compareStability } from '@krmkit/versioning'
 * compareStability('beta', 'stable') < 0 // true
 */
export function compareStability(a: Stability, b: Stability): number {
  return order.indexOf(a) - order.indexOf(b)
}
