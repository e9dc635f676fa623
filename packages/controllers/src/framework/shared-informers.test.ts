import { fakeClock, systemRandom } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { SmallServer } from '../testing/small-server.fixture.ts'
import { byController, orphansOf } from '../workloads/owned-pods.ts'
import { IdleTracker } from './idle-tracker.ts'
import { SharedInformers } from './shared-informers.ts'

const owner = (uid: string, controller = true) => ({ apiVersion: 'v1', kind: 'Owner', name: uid, uid, controller })

it('finds objects by their controller, and objects without a controller', async () => {
  const server = new SmallServer([{ group: 'shop', resource: 'parts', kind: 'Part' }])
  server.put('parts', 'a1', { namespace: 'one', ownerReferences: [owner('a')] })
  server.put('parts', 'a2', { namespace: 'one', ownerReferences: [owner('b', false), owner('a')] })
  server.put('parts', 'b1', { namespace: 'one', ownerReferences: [owner('b')] })
  server.put('parts', 'free', { namespace: 'one', ownerReferences: [owner('a', false)] })
  const { client } = server
  const options = { clock: fakeClock(), random: systemRandom, idleTracker: new IdleTracker(), onError: () => undefined }
  await using informers = new SharedInformers({ client, metadata: client, ...options })
  const resource = { group: 'shop', version: 'v1', resource: 'parts', kind: 'Part', namespaced: true }
  const parts = informers.of(resource)
  await parts.synced
  const index = informers.index(resource, 'controller', byController)
  const names = (value: string) => index.get(value).map(({ metadata }) => metadata.name)
  expect([names('a'), names('b'), names('c')]).toEqual([['a1', 'a2'], ['b1'], []])
  expect(names(orphansOf('one'))).toEqual(['free'])
})
