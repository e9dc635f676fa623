import { createFeatures, stockProfile } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { flowSchemas } from './flow-control-objects.ts'

it('lacks the flow schemas of locks on endpoints and config maps from 1.34 on', () => {
  const names = (version?: string) =>
    flowSchemas(stockProfile, version === undefined ? undefined : createFeatures(version)).map(({ name }) => name)
  const gone = ['endpoint-controller', 'workload-leader-election']
  expect(names().filter((name) => !names('1.34').includes(name))).toEqual(gone)
  expect(names('1.33')).toEqual(names())
  expect(names('1.34').slice(0, 4)).toEqual(['exempt', 'probes', 'system-leader-election', 'system-node-high'])
})
