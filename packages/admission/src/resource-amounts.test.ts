import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { addTo, amountsOf, podAmounts, raiseAllTo } from './resource-amounts.ts'

/** A reference implementation: the usage at each step of start-up, with each init container beside all earlier sidecars. */
function reference(init: readonly { restartPolicy?: string; resources: { requests: Record<string, string> } }[]) {
  const [sum, sidecars, peak] = [amountsOf({}), amountsOf({}), amountsOf({})]
  for (const { restartPolicy, resources } of init) {
    const amounts = amountsOf(resources.requests)
    if (restartPolicy === 'Always') {
      addTo(sum, amounts)
      addTo(sidecars, amounts)
      raiseAllTo(peak, sidecars)
    } else {
      addTo(amounts, sidecars)
      raiseAllTo(peak, amounts)
    }
  }
  raiseAllTo(sum, peak)
  return sum
}

const texts = (amounts: ReadonlyMap<string, object>) =>
  Object.fromEntries([...amounts].map(([name, amount]) => [name, String(amount)]).sort())

describe('podAmounts', () => {
  it.each([1, 2, 3, 4])('takes the maximum over all steps of pod start-up, seed %i', (seed) => {
    const bytes = seededRandom(seed).bytes(2048)
    let at = 0
    const below = (limit: number) => (bytes[at++ % bytes.length] as number) % limit
    for (let round = 0; round < 50; round++) {
      const init = Array.from({ length: below(6) }, (_, i) => ({
        name: `c${i}`,
        ...(below(2) === 0 ? { restartPolicy: 'Always' } : {}),
        resources: { requests: Object.fromEntries(Array.from({ length: below(4) }, () => [`r${below(4)}`, String(below(9))])) },
      }))
      const pod = { spec: { containers: [], initContainers: init } }
      expect(texts(podAmounts(pod, 'requests'))).toEqual(texts(reference(init)))
    }
  })

  describe('of a pod that is resized', () => {
    const resources = (cpu: string) => ({ requests: { cpu }, limits: { cpu } })
    const resized = (asked: string, has: string, conditions: { type: string; status: string; reason?: string }[] = []) => ({
      spec: { containers: [{ name: 'app', resources: resources(asked) }] },
      status: { conditions, containerStatuses: [{ name: 'app', resources: resources(has), allocatedResources: { cpu: '3' } }] },
    })
    const cpu = (pod: ReturnType<typeof resized>, of: 'requests' | 'limits', fromStatus = true) =>
      String(podAmounts(pod, of, { fromStatus }).get('cpu'))

    it('counts the largest of what it asks for, has and is allocated', () => {
      expect([cpu(resized('5', '1'), 'requests'), cpu(resized('1', '5'), 'requests')]).toEqual(['5', '5'])
      expect([cpu(resized('1', '2'), 'requests'), cpu(resized('1', '2'), 'limits')]).toEqual(['3', '2'])
    })

    it('leaves out a resize that its node can never do', () => {
      const infeasible = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }]
      expect([cpu(resized('9', '2', infeasible), 'requests'), cpu(resized('9', '2', infeasible), 'limits')]).toEqual(['3', '2'])
      const deferred = [{ type: 'PodResizePending', status: 'True', reason: 'Deferred' }]
      expect(cpu(resized('9', '2', deferred), 'requests')).toBe('9')
    })

    it('leaves the status out by default', () => {
      expect(cpu(resized('1', '5'), 'requests', false)).toBe('1')
    })
  })

  it('takes the resources of a pod instead of those of its containers', () => {
    const containers = [{ name: 'app', resources: { requests: { cpu: '1', memory: '1Gi', 'example.com/gpu': '1' } } }]
    const pod = { spec: { containers, resources: { requests: { cpu: '5', 'example.com/gpu': '7' } } } }
    expect(texts(podAmounts(pod, 'requests'))).toEqual({ cpu: '5', memory: '1Gi', 'example.com/gpu': '1' })
  })
})
