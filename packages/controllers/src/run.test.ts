import { createClient } from '@krmkit/client'
import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { builtInControllers } from './built-in.ts'
import { disposeSubscriptions } from './framework/subscriptions.ts'
import type { Controller, ControllerRun } from './interfaces.ts'
import { chooseControllers, runControllers } from './run.ts'
import { workloadControllers } from './workload-controllers.ts'

function named(name: string, isDefault?: boolean): Controller {
  const start = () => ({ [Symbol.asyncDispose]: () => Promise.resolve() })
  return { name, start, ...(isDefault === undefined ? {} : { isDefault }) }
}

const available = [named('a'), named('b'), named('c', false)]

describe('chooseControllers', () => {
  it.each([
    [['*'], ['a', 'b']],
    [
      ['*', 'c'],
      ['a', 'b', 'c'],
    ],
    [['*', '-a'], ['b']],
    [['-a', '*'], ['b']],
    [
      ['c', 'a'],
      ['a', 'c'],
    ],
    [['a', '-a'], ['a']],
    [['-a'], []],
    [[], []],
  ])('resolves %j', (names, chosen) => {
    expect(chooseControllers(available, names).map(({ name }) => name)).toEqual(chosen)
  })

  it('rejects unknown names', () => {
    expect(() => chooseControllers(available, ['*', '-d'])).toThrow(expect.objectContaining({ code: 'UnknownController' }))
  })

  it('lists the built-in controllers by name', () => {
    expect(builtInControllers.map(({ name }) => name)).toEqual([
      'serviceaccount-controller',
      'serviceaccount-token-controller',
      'legacy-serviceaccount-token-cleaner-controller',
      'root-ca-certificate-publisher-controller',
      'namespace-controller',
      'clusterrole-aggregation-controller',
      'garbage-collector-controller',
      'disruption-controller',
      'validatingadmissionpolicy-status-controller',
      'resourcequota-controller',
      'node-lifecycle-controller',
      'persistentvolume-binder-controller',
      'persistentvolumeclaim-protection-controller',
      'persistentvolume-protection-controller',
      'ephemeral-volume-controller',
      'deployment-controller',
      'replicaset-controller',
      'replicationcontroller-controller',
      'statefulset-controller',
      'daemonset-controller',
      'job-controller',
      'cronjob-controller',
      'ttl-controller',
      'ttl-after-finished-controller',
      'endpoints-controller',
      'endpointslice-controller',
      'endpointslice-mirroring-controller',
      'horizontal-pod-autoscaler-controller',
      'persistentvolume-attach-detach-controller',
      'persistentvolume-expander-controller',
      'volume-simulator',
      'pod-garbage-collector-controller',
      'taint-eviction-controller',
      'certificatesigningrequest-approving-controller',
      'certificatesigningrequest-signing-controller',
      'certificatesigningrequest-cleaner-controller',
      'kube-apiserver-serving-clustertrustbundle-publisher-controller',
      'bootstrap-signer-controller',
      'token-cleaner-controller',
      'storage-version-migrator-controller',
      'kube-scheduler',
    ])
  })

  it('enables the controllers of workloads only by name', () => {
    const byDefault = chooseControllers(builtInControllers, ['*']).map(({ name }) => name)
    expect(byDefault.filter((name) => workloadControllers.includes(name))).toEqual(['deployment-controller'])
    const chosen = chooseControllers(builtInControllers, workloadControllers).map(({ name }) => name)
    expect(chosen.sort()).toEqual([...workloadControllers].sort())
  })

  it('enables the bootstrap token controllers by name or alias [P265]', () => {
    const chosen = (...names: string[]) => chooseControllers(builtInControllers, names).map(({ name }) => name)
    const both = ['bootstrap-signer-controller', 'token-cleaner-controller']
    expect(chosen('*')).not.toEqual(expect.arrayContaining([both[0]]))
    expect(chosen('*', 'bootstrapsigner', 'tokencleaner')).toEqual(expect.arrayContaining(both))
    expect(chosen(...both)).toEqual(both)
    expect(chosen('bootstrapsigner')).toEqual(['bootstrap-signer-controller'])
    expect(chosen('*', '-namespace')).not.toContain('namespace-controller')
    expect(() => chosen('constructor')).toThrow(expect.objectContaining({ code: 'UnknownController' }))
  })
})

describe('runControllers', () => {
  const client = createClient({ send: () => Promise.reject(new Error('server unreachable')), close: () => Promise.resolve() })

  it('sends no requests without controllers', async () => {
    await using running = runControllers({ client, available, clock: fakeClock(), newestVersion: () => '1' })
    expect(running.names).toEqual(['a', 'b'])
    await running.settled()
  })

  it('settled() resolves when queues are empty, regardless of timers', async () => {
    const clock = fakeClock()
    const done: string[] = []
    const worker: Controller = {
      name: 'worker',
      start({ queue }) {
        const work = queue<string>({
          async sync(key) {
            done.push(key)
            if (key === 'fails') throw new Error('always')
            if (key === 'first') work.add('second')
            return undefined
          },
        })
        work.add('first')
        work.add('fails')
        return disposeSubscriptions([])
      },
    }
    const errors: unknown[] = []
    const runs: ControllerRun[] = []
    const onError = (error: unknown) => errors.push(error)
    const onRun = (run: ControllerRun) => runs.push(run)
    const running = runControllers({ client, available: [worker], clock, onError, onRun, newestVersion: () => '1' })
    await running.settled()
    expect(done).toEqual(['first', 'fails', 'second'])
    expect(errors).toHaveLength(1)
    expect(runs.map(({ controller, key, outcome }) => `${controller} ${key} ${outcome}`).sort()).toEqual([
      'worker fails failed',
      'worker first done',
      'worker second done',
    ])
    expect(clock.pending).toBe(1)
    await running.close()
    expect(clock.pending).toBe(0)
  })

  it('stops while work waits for the first list of a resource that is not served', async () => {
    const client = createClient({
      send: () => Promise.reject(new Error('not served')),
      close: () => Promise.resolve(),
    })
    const waiting: Controller = {
      name: 'waiting',
      start({ informers, queue }) {
        const widgets = informers.of({
          group: 'shop.example.com',
          version: 'v1',
          resource: 'widgets',
          kind: 'Widget',
          namespaced: true,
        })
        const work = queue<string>({
          async sync() {
            await widgets.synced
            return undefined
          },
        })
        work.add('')
        return disposeSubscriptions([])
      },
    }
    const running = runControllers({ client, available: [waiting] })
    await new Promise(setImmediate)
    await running.close()
    expect(running.names).toEqual(['waiting'])
  })

  it('keeps running while the server is unreachable, and leaves nothing behind when stopped', async () => {
    const clock = fakeClock()
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const running = runControllers({ client, clock, onError, newestVersion: () => '1' })
    await running.settled()
    const before = errors.length
    expect(before).toBeGreaterThan(0)
    clock.advance(60_000)
    await running.settled()
    expect(errors.length).toBeGreaterThan(before)
    await running.close()
    expect(clock.pending).toBe(0)
  })
})

describe('wrong options', () => {
  const client = createClient({ send: () => Promise.reject(new Error('unused')), close: () => Promise.resolve() })
  it.each<readonly [options: unknown, message: string]>([
    [undefined, 'runControllers needs an object such as { client }, not undefined'],
    [{}, '`client` needs a function `list`, not undefined'],
    [{ client: {} }, '`client` needs a function `list`'],
    [{ client, controller: ['*'] }, 'runControllers has no "controller"; did you mean "controllers"?'],
    [{ client, controllers: '*' }, 'runControllers: controllers is a list of strings, not "*"'],
    [{ client, available: ['job-controller'] }, '`available[0]` needs a function `start`, not "job-controller"'],
  ])('are rejected with a hint: %#', (options, message) => {
    const error = { code: 'InvalidOption', message: expect.stringContaining(message) }
    expect(() => runControllers(options as never)).toThrow(expect.objectContaining(error))
  })
})
