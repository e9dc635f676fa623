import { type ApiObject, createFeatures } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { runValidation } from '../../validation.ts'
import { podStrategy } from '../core/pod/strategy.ts'
import { testContext } from '../testing/context.ts'

it('equal errors are reported once since 1.37', () => {
  const container = { name: 'c', image: '', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1' },
    spec: { containers: [container], restartPolicy: 'Never', dnsPolicy: 'Default', terminationGracePeriodSeconds: 1 },
  } as ApiObject
  const found = (release: string) =>
    runValidation(podStrategy.validateUpdate?.(pod, pod, testContext({ features: createFeatures(release) }))).map(
      ({ field }) => field,
    )
  const image = 'spec.containers[0].image'
  expect([found('1.36'), found('1.37')]).toEqual([[image, image], [image]])
})
