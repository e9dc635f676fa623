import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../types/core-v1.generated.ts'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { defaultPodStatus, podStatusStrategy } from './status.ts'

function withDefaults(status: NonNullable<Pod['status']>): Pod['status'] {
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status }
  defaultPodStatus(pod)
  return pod.status
}

describe('defaultPodStatus', () => {
  it('joins the address of a pod and the list of its addresses', () => {
    expect(withDefaults({ podIP: '10.1.0.1' })).toEqual({ podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] })
    expect(withDefaults({ podIPs: [{ ip: '10.1.0.1' }] })).toEqual({ podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] })
  })

  it('leaves the addresses of the host as they are', () => {
    expect(withDefaults({ hostIP: '10.1.0.1' })).toEqual({ hostIP: '10.1.0.1' })
  })

  it('rounds the amounts of containers up to thousandths', () => {
    const given = { name: 'c', image: 'i', imageID: 'i', ready: false, restartCount: 0 }
    const amounts = (cpu: string) => ({ allocatedResources: { cpu }, resources: { limits: { cpu }, requests: { cpu } } })
    expect(withDefaults({ initContainerStatuses: [{ ...given, ...amounts('100u') }] })).toEqual({
      initContainerStatuses: [{ ...given, ...amounts('1m') }],
    })
  })
})

describe('the nominated node of a pod', () => {
  const bound = (nominatedNodeName?: string): Pod => ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1' },
    spec: { containers: [], nodeName: 'n' },
    status: { ...(nominatedNodeName === undefined ? {} : { nominatedNodeName }) },
  })
  const refusals = (next: Pod, old: Pod, release: string) => {
    const context = { ...testContext(), features: createFeatures(release) }
    return runValidation(podStatusStrategy.validateUpdate?.(next, old, context)).map(({ field, message }) => [field, message])
  }

  it('may not be set once the pod is bound, since 1.35', () => {
    const refused = [['status.nominatedNodeName', 'Forbidden: may not be set on pods that are already bound to a node']]
    expect(refusals(bound('m'), bound(), '1.35')).toEqual(refused)
    expect(refusals(bound('m'), bound('m'), '1.35')).toEqual([])
    expect(refusals(bound('m'), bound(), '1.34')).toEqual([])
  })
})
