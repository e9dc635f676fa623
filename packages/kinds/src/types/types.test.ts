import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { expect, expectTypeOf, it } from 'vitest'
import type { HorizontalPodAutoscaler } from './autoscaling-v2.generated.ts'
import type { Pod, PodList, PodPhase } from './core-v1.generated.ts'

it('types of kinds are assignable to open objects and closed themselves', () => {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] },
  }
  const open: ApiObject = pod
  const frozen: DeepReadonly<ApiObject> = pod as DeepReadonly<Pod>
  // @ts-expect-error unknown member
  const wrong: Pod = { ...pod, spce: {} }
  // @ts-expect-error an absent member is omitted, not undefined
  const undefinedMember: Pod = { ...pod, status: undefined }
  expect([open, frozen, wrong, undefinedMember]).toHaveLength(4)
})

it('enumerations list their values and accept others', () => {
  expectTypeOf<'Running'>().toExtend<PodPhase>()
  expectTypeOf<string>().toExtend<PodPhase>()
  expectTypeOf<PodList['items']>().toEqualTypeOf<Pod[]>()
  expectTypeOf<HorizontalPodAutoscaler['apiVersion']>().toEqualTypeOf<'autoscaling/v2'>()
})
