import { fakeClock, systemRandom } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { SmallServer } from '../testing/small-server.fixture.ts'
import { IdleTracker } from './idle-tracker.ts'
import { controlledBy, SharedInformers } from './shared-informers.ts'

const owner = (uid: string, controller = true) => ({ apiVersion: 'v1', kind: 'Owner', name: uid, uid, controller })

it('finds objects by their controller, and those without one', async () => {
  const server = new SmallServer([{ group: 'shop', resource: 'parts', kind: 'Part' }])
  server.put('parts', 'a1', { namespace: 'one', ownerReferences: [owner('a')] })
  server.put('parts', 'a2', { namespace: 'one', ownerReferences: [owner('b', false), owner('a')] })
  server.put('parts', 'b1', { namespace: 'one', ownerReferences: [owner('b')] })
  server.put('parts', 'a3', { namespace: 'two', ownerReferences: [owner('a')] })
  server.put('parts', 'free', { namespace: 'one', ownerReferences: [owner('a', false)] })
  const { client } = server
  const options = { clock: fakeClock(), random: systemRandom, idleTracker: new IdleTracker(), onError: () => undefined }
  await using informers = new SharedInformers({ client, metadata: client, ...options })
  const parts = informers.of({ group: 'shop', version: 'v1', resource: 'parts', kind: 'Part', namespaced: true })
  await parts.synced
  const names = (uid?: string) =>
    controlledBy(parts, { namespace: 'one', ...(uid === undefined ? {} : { uid }) }).map(({ metadata }) => metadata.name)
  expect(names('a')).toEqual(['a1', 'a2'])
  expect(names('b')).toEqual(['b1'])
  expect(names()).toEqual(['free'])
  expect(names('c')).toEqual([])
})
