import type { FieldError } from '@krmkit/meta'
import { Pod, type Volume } from '../../handles/core-v1.generated.ts'

/** What tests of the specification's rules are made with. */

/** Where fault is found, and of which sort: `spec.volumes[0].name Required`. */
export const faults = (errors: readonly FieldError[]) =>
  errors.map(({ field, reason }) => `${field} ${reason.replace('FieldValue', '')}`)

/** A pod that is valid but for its volumes. */
export function podWith(...volumes: object[]): Pod {
  return Pod.create({
    metadata: { name: 'p' },
    spec: { serviceAccountName: 'default', containers: [{ name: 'c', image: 'i' }], volumes: volumes as Volume[] },
  })
}

/** The faults of one volume, below it; each once. */
export function volumeFaults(volume: object): string[] {
  const found = faults(Pod.validate(podWith({ name: 'v', ...volume })))
  return [...new Set(found.map((fault) => fault.replace(/^spec\.volumes\[0\]\.?/, '')))]
}

/** The volume as the server completes it, without its name. */
export function completed(volume: object): object {
  const [{ name: _, ...rest } = { name: '' }] = Pod.default(Pod.decode(podWith({ name: 'v', ...volume }))).spec?.volumes ?? []
  return rest
}

export const base64 = (text: string) => Buffer.from(text).toString('base64')
