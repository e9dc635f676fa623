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
      expect(texts(podAmounts({ containers: [], initContainers: init }, 'requests'))).toEqual(texts(reference(init)))
    }
  })
})
