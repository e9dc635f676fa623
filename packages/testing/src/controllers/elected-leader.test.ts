import { type Client, resourceType } from '@krmkit/client'
import { type Controller, leaderElection, runControllers, serverControllers } from '@krmkit/controllers'
import { createCatalog } from '@krmkit/kinds'
import { type ApiObject, createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createTestServer } from '../test-server.ts'

type Loose = ApiObject & { spec?: Record<string, unknown> }
const group = 'coordination.k8s.io'
const leases = resourceType<Loose>({ group, version: 'v1', resource: 'leases', kind: 'Lease' })
const candidates = resourceType<Loose>({ group, version: 'v1beta1', resource: 'leasecandidates', kind: 'LeaseCandidate' })
const events = resourceType<ApiObject & { message?: string }>({ group: '', version: 'v1', resource: 'events', kind: 'Event' })
const there = { namespace: 'kube-system' }
const leaseName = 'controllers'

async function cluster() {
  const features = createFeatures('1.33', { CoordinatedLeaderElection: true })
  const { definitions, types } = createCatalog({ features, runtimeConfig: `${group}/v1beta1=true` })
  const made = await createTestServer({ controllers: [], server: { features, kinds: definitions, types } })
  const client = made.as({ username: 'system:kube-controller-manager', groups: ['system:masters'] })
  const leading: string[] = []
  /** Whether updates hang until their signal aborts. */
  const stalled = { value: false }
  const update: Client['update'] = (resource, object, options) =>
    stalled.value ? aborted(options?.signal) : client.update(resource, object, options)
  const stallable = new Proxy(client, {
    get(target, name) {
      if (name === 'update') return update
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const run = (...available: readonly Controller[]) =>
    runControllers({
      client: stallable,
      clock: made.clock,
      available,
      fieldManager: 'kube-controller-manager',
      onError: () => undefined,
    })
  const compete = (identity: string, coordinated?: { binaryVersion: string; emulationVersion: string }) =>
    run(
      leaderElection({
        ...{ leaseName, identity },
        ...(coordinated === undefined ? {} : { coordinated }),
        lead() {
          leading.push(identity)
          return { [Symbol.asyncDispose]: async () => void leading.splice(leading.indexOf(identity), 1) }
        },
      }),
    )
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed++) await made.clock.advance({ seconds: 1 })
  }
  return Object.assign(made, { leading, stalled, run, compete, pass, lease: () => made.client.get(leases, leaseName, there) })
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason as Error)
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

describe('an election of leaders', () => {
  it('gives the Lease to the first candidate, which renews it and releases it when it stops', async () => {
    await using made = await cluster()
    const a = made.compete('a')
    await a.settled()
    await using b = made.compete('b')
    await b.settled()
    await made.pass(30)
    expect(made.leading).toEqual(['a'])
    expect(await made.lease()).toMatchObject({
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 },
    })
    await a.close()
    expect(made.leading).toEqual([])
    await made.pass(5)
    expect(made.leading).toEqual(['b'])
    expect(await made.lease()).toMatchObject({ spec: { holderIdentity: 'b', leaseTransitions: 1 } })
    const { items } = await made.client.list(events, there)
    expect(items.map(({ message }) => message)).toEqual(expect.arrayContaining(['a became leader', 'b became leader']))
  })

  it('replaces a leader that has stopped renewing after the duration of its Lease', async () => {
    await using made = await cluster()
    const now = new Date(made.clock.now()).toISOString().replace('Z', '000Z')
    const spec = { holderIdentity: 'gone', leaseDurationSeconds: 15, acquireTime: now, renewTime: now, leaseTransitions: 3 }
    await made.client.create(leases, { metadata: { name: leaseName, ...there }, spec })
    await using b = made.compete('b')
    await b.settled()
    await made.pass(14)
    expect(made.leading).toEqual([])
    await made.pass(6)
    expect(made.leading).toEqual(['b'])
    expect(await made.lease()).toMatchObject({ spec: { holderIdentity: 'b', leaseTransitions: 4 } })
  })

  it('stops a leader that cannot renew before its Lease expires, and lets it compete again', async () => {
    await using made = await cluster()
    await using a = made.compete('a')
    await a.settled()
    const held = await made.lease()
    const later = new Date(made.clock.now() + 3_600_000).toISOString().replace('Z', '000Z')
    await made.client.update(leases, { ...held, spec: { ...held.spec, holderIdentity: 'thief', renewTime: later } })
    await made.pass(11)
    expect(made.leading).toEqual([])
    // 15 seconds after the other holder was observed, plus the retry periods.
    await made.pass(14)
    expect(made.leading).toEqual(['a'])
  })

  it('waits at most the renew deadline for the release of the Lease, which then expires', async () => {
    await using made = await cluster()
    const a = made.compete('a')
    await a.settled()
    made.stalled.value = true
    let isClosed = false
    const closing = a.close().then(() => {
      isClosed = true
    })
    await made.pass(9)
    expect([made.leading, isClosed]).toEqual([[], false])
    await made.pass(2)
    await closing
    expect(await made.lease()).toMatchObject({ spec: { holderIdentity: 'a' } })
  })

  it('releases the Lease after a conflicting write', async () => {
    await using made = await cluster()
    const a = made.compete('a')
    await a.settled()
    const held = await made.lease()
    await Promise.all([made.client.update(leases, { ...held, spec: { ...held.spec, leaseTransitions: 7 } }), a.close()])
    const { spec } = await made.lease()
    expect(spec).toMatchObject({ leaseTransitions: 7, leaseDurationSeconds: 1 })
    expect(spec).not.toHaveProperty('holderIdentity')
  })

  it('can select the leader by version, for candidates with a LeaseCandidate', async () => {
    await using made = await cluster()
    const elections = serverControllers({
      ...{ name: 's', holder: 's_1', hostname: 'here', address: undefined, port: 6443 },
      ...{ serviceRanges: ['10.0.0.0/24'], serviceAddress: '10.0.0.1', electsLeaders: true },
    }).filter(({ name }) => name.includes('lea'))
    await using server = made.run(...elections)
    await using a = made.compete('a', { binaryVersion: '1.33.0', emulationVersion: '1.33.0' })
    await made.pass(8)
    expect(made.leading).toEqual(['a'])
    await using b = made.compete('b', { binaryVersion: '1.33.0', emulationVersion: '1.32.0' })
    await made.pass(60)
    expect(made.leading).toEqual(['b'])
    expect((await made.client.list(candidates, there)).items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    expect([server, a, b].map(({ names }) => names.length > 0)).toEqual([true, true, true])
  })
})
