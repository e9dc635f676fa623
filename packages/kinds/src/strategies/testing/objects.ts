import type { FieldError } from '@krmkit/meta'
import { Pod, type Volume } from '../../group-versions/core-v1.generated.ts'

/** Helpers of the tests of specification rules. */

/** Formats errors by path and reason: `spec.volumes[0].name Required`. */
export const faults = (errors: readonly FieldError[]) =>
  errors.map(({ field, reason }) => `${field} ${reason.replace('FieldValue', '')}`)

/** A pod that is valid apart from the given volumes. */
export function podWith(...volumes: object[]): Pod {
  return Pod.create({
    metadata: { name: 'p' },
    spec: { serviceAccountName: 'default', containers: [{ name: 'c', image: 'i' }], volumes: volumes as Volume[] },
  })
}

/** The errors of one volume, relative to it, without duplicates. */
export function volumeFaults(volume: object): string[] {
  const found = faults(Pod.validate(podWith({ name: 'v', ...volume })))
  return [...new Set(found.map((fault) => fault.replace(/^spec\.volumes\[0\]\.?/, '')))]
}

/** The volume with defaults, without its name. */
export function withDefaults(volume: object): object {
  const [{ name: _, ...rest } = { name: '' }] = Pod.default(Pod.decode(podWith({ name: 'v', ...volume }))).spec?.volumes ?? []
  return rest
}

export const base64 = (text: string) => Buffer.from(text).toString('base64')
