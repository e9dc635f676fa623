import { expect, it } from 'vitest'
import type { SubresourceStrategy } from '../../../interfaces.ts'
import { runPreparation } from '../../../preparation.ts'
import type { Pod } from '../../../types/core-v1.generated.ts'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { resizeStrategy } from './resize.ts'
import { ephemeralContainersStrategy } from './subresources.ts'

const context = testContext()
const pod = (metadata: object) =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1', ...metadata },
    spec: { containers: [{ name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' }] },
  }) as unknown as Pod

it.each([
  ['ephemeralcontainers', ephemeralContainersStrategy],
  ['resize', resizeStrategy],
] as readonly [string, SubresourceStrategy<Pod>][])(
  '%s keeps the metadata that a status keeps, and checks the others',
  (_, strategy) => {
    const old = pod({ labels: { a: 'b' }, generateName: 'p' })
    const next = pod({ labels: { c: 'd' }, deletionGracePeriodSeconds: 600 })
    runPreparation(strategy.prepareForUpdate?.(next, old, context))
    expect(next.metadata).toMatchObject({ labels: { a: 'b' }, deletionGracePeriodSeconds: 600 })
    expect(next.metadata).not.toHaveProperty('generateName')
    const errors = runValidation(strategy.validateUpdate?.(next, old, context))
    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toContain(
      'metadata.deletionGracePeriodSeconds: Invalid value: 600: field is immutable',
    )
  },
)

it.each([
  [
    'a container that runs without reporting its resources',
    {},
    { state: { running: {} } },
    'spec: Forbidden: Pod running on node',
  ],
  ['a static pod', { 'kubernetes.io/config.mirror': 'a' }, { state: { waiting: {} } }, '[]: Forbidden: static pods cannot'],
])('resize refuses %s', (_, annotations, status, refusal) => {
  const refusals = (containerStatus: object, on: object) => {
    const old = pod({ annotations: on })
    Object.assign(old, { status: { containerStatuses: [{ name: 'c', ...containerStatus }] } })
    const errors = runValidation(resizeStrategy.validateUpdate?.(structuredClone(old), old, context))
    return errors.map(({ field, message }) => `${field}: ${message}`)
  }
  expect(refusals(status, annotations)).toContainEqual(expect.stringContaining(refusal))
  expect(refusals({ ...status, resources: {} }, {})).not.toContainEqual(expect.stringContaining(refusal))
})
