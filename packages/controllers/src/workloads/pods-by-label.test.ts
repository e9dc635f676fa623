import type { DeepReadonly } from '@krmkit/meta'
import { expect, it } from 'vitest'
import type { ControllerContext } from '../interfaces.ts'
import type { Pod } from './objects.ts'
import { PodsByLabel } from './pods-by-label.ts'

const wide = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`label-${i}`, 'v']))
const podWith = (name: string, namespace: string, labels: Record<string, string>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels },
})

it('finds pods with few labels, and pods with very many labels, which share one index value', () => {
  const pods = [
    podWith('small', 'shop', { app: 'web', tier: 'front' }),
    podWith('wide', 'shop', { app: 'web', ...wide }),
    podWith('api', 'shop', { app: 'api', ...wide }),
    podWith('other', 'test', { app: 'web', ...wide }),
  ]
  let valuesOf: (pod: DeepReadonly<Pod>) => readonly string[] = () => []
  const informers = {
    index: (_resource: unknown, _name: string, values: typeof valuesOf) => {
      valuesOf = values
      return { get: (value: string) => pods.filter((pod) => values(pod).includes(value)) }
    },
  } as unknown as ControllerContext['informers']
  const byLabel = new PodsByLabel({ informers } as ControllerContext)
  const select = (labels: Record<string, string>) => byLabel.select('shop', labels).map(({ metadata }) => metadata.name)
  expect(select({ app: 'web' })).toEqual(['small', 'wide'])
  expect(select({ 'label-7': 'v' })).toEqual(['wide', 'api'])
  expect(select({ tier: 'front', app: 'web' })).toEqual(['small'])
  expect(select({})).toEqual([])
  expect(pods.map((pod) => valuesOf(pod).length)).toEqual([2, 1, 1, 1])
})
