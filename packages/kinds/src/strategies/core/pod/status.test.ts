import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../types/core-v1.generated.ts'
import { defaultPodStatus } from './status.ts'

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
