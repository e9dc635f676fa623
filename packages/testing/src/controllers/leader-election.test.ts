import { resourceType } from '@krmkit/client'
import { runControllers, serverControllers } from '@krmkit/controllers'
import { createCatalog } from '@krmkit/kinds'
import { type ApiObject, createFeatures } from '@krmkit/meta'
import { formatMicroTime } from '@krmkit/meta/time'
import { expect, it } from 'vitest'
import { createTestServer } from '../test-server.ts'

type Loose = ApiObject & { spec?: Record<string, unknown> }
const group = 'coordination.k8s.io'
const leases = resourceType<Loose>({ group, version: 'v1', resource: 'leases', kind: 'Lease' })
const candidates = resourceType<Loose>({ group, version: 'v1beta1', resource: 'leasecandidates', kind: 'LeaseCandidate' })
const there = { namespace: 'kube-system' }

async function cluster(controllers = ['leader-election-controller']) {
  const features = createFeatures('1.33', { CoordinatedLeaderElection: true })
  const { definitions, types } = createCatalog({ features, runtimeConfig: `${group}/v1beta1=true` })
  const made = await createTestServer({ controllers: [], server: { features, kinds: definitions, types } })
  const errors: unknown[] = []
  const running = runControllers({
    client: made.as({ username: 'system:apiserver', groups: ['system:masters'] }),
    clock: made.clock,
    available: serverControllers({
      ...{ name: 'a', holder: 'a_1', hostname: 'here', address: undefined, port: 6443 },
      ...{ serviceRanges: ['10.0.0.0/24'], serviceAddress: '10.0.0.1', electsLeaders: true },
    }).filter(({ name }) => controllers.includes(name)),
    onError: (error) => errors.push(error),
  })
  await running.settled()
  const announce = (name: string, emulationVersion: string) =>
    made.client.create(candidates, {
      metadata: { name, ...there },
      spec: {
        leaseName: 'scheduler',
        binaryVersion: '1.33.0',
        emulationVersion,
        strategy: 'OldestEmulationVersion',
        renewTime: formatMicroTime(made.clock.now()),
      },
    })
  return Object.assign(made, { running, errors, announce, lease: () => made.client.get(leases, 'scheduler', there) })
}

it('elects the candidate with the oldest emulation version, and sets the preferred holder [P332]', async () => {
  const made = await cluster()
  await made.announce('new', '1.33.0')
  await made.running.settled()
  expect(await made.lease()).toMatchObject({
    spec: { holderIdentity: 'new', strategy: 'OldestEmulationVersion', leaseDurationSeconds: 5 },
  })
  await made.announce('old', '1.32.0')
  await made.running.settled()
  expect(await made.lease()).toMatchObject({ spec: { holderIdentity: 'new', preferredHolder: 'old' } })
  await made.running.close()
  await made.close()
})

it('pings candidates that have not renewed', async () => {
  const made = await cluster()
  await made.announce('only', '1.33.0')
  await made.running.settled()
  await made.clock.advance(20_000)
  await made.running.settled()
  expect((await made.client.get(candidates, 'only', there)).spec?.['pingTime']).toBeDefined()
  await made.running.close()
  await made.close()
})

it('deletes candidates that have not renewed for half an hour', async () => {
  const made = await cluster(['leasecandidate-garbage-collector'])
  await made.announce('only', '1.33.0')
  await made.running.settled()
  await made.clock.advance(3_700_000)
  await made.running.settled()
  await expect(made.client.get(candidates, 'only', there)).rejects.toMatchObject({ reason: 'NotFound' })
  await made.running.close()
  await made.close()
})
