/** The storage contract on three members of etcd, which are killed, paused, partitioned and slowed down during each test. */
import { RandomChoices } from '@krmkit/base/random-choices'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import type { StorageOptions } from '../options.ts'
import { etcdStorage } from './etcd-storage.ts'
import { disturbedStorage } from './testing/disturbed-storage.ts'
import { EtcdCluster } from './testing/etcd-cluster.ts'
import { etcdProgram, withoutEtcd } from './testing/etcd-process.ts'
import { etcdSuite } from './testing/etcd-suite.ts'

const program = etcdProgram()
const timeoutMs = 5000
/** Share of writes that are preceded by a fault, in percent, and the number of faults of one store. */
const faultChance = 15
const faultsPerStore = 4

type Fault = (cluster: EtcdCluster, member: number) => Promise<void>

const faults: Readonly<Record<string, Fault>> = {
  async killed(cluster, member) {
    await cluster.kill(member)
    await pause(200)
    await cluster.restart(member)
  },
  async paused(cluster, member) {
    cluster.signal(member, 'SIGSTOP')
    await pause(1000)
    cluster.signal(member, 'SIGCONT')
  },
  async 'isolated from members'(cluster, member) {
    cluster.isolate(member)
    await pause(1000)
    cluster.heal({ lost: true })
  },
  async 'isolated from clients'(cluster, member) {
    cluster.isolateClients(member)
    await pause(500)
    cluster.heal({ lost: false })
  },
  async 'connections reset'(cluster) {
    cluster.cut()
  },
  async 'slow network'(cluster) {
    // Toggles the delay, which lasts until the next fault of this kind.
    cluster.delay(cluster.delayMs === 0 ? 20 : 0)
  },
}

if (program === undefined) it.skip(`storage in three members of etcd: ${withoutEtcd}`)
else disturbed(program)

function disturbed(program: string): void {
  const choices = new RandomChoices(1)
  const counts: Record<string, number> = {}
  let cluster: EtcdCluster
  beforeAll(async () => {
    cluster = await EtcdCluster.start(program)
  })
  afterAll(async () => {
    await cluster.dispose()
    expect(Object.keys(counts).sort()).toEqual(Object.keys(faults).sort())
  })

  /** Repeats an operation that a recently ended fault may still prevent. */
  const persist = async <T>(run: () => Promise<T>): Promise<T> => {
    const deadlineMs = performance.now() + 30_000
    for (;;) {
      try {
        return await run()
      } catch (error) {
        if (performance.now() > deadlineMs) throw error
        await pause(100)
      }
    }
  }

  const open = async (prefix: string, options: StorageOptions): Promise<Storage> => {
    const connect = () =>
      etcdStorage({ ...options, endpoints: cluster.endpoints(choices.below(3)), prefix, timeoutMs, compactionIntervalMs: 0 })
    const storage = await persist(connect)
    let left = faultsPerStore
    return disturbedStorage(storage, {
      isDue: () => left > 0 && choices.chance(faultChance),
      async run() {
        left--
        const [name = '', fault] = choices.pick(Object.entries(faults))
        const leader = await cluster.leader()
        counts[name] = (counts[name] ?? 0) + 1
        await fault(cluster, choices.chance(60) ? leader : (leader + 1) % 3)
        await persist(async () => storage.refresh?.())
      },
    })
  }

  etcdSuite('three members of etcd with faults', open, { timeoutMs: 120_000, seeds: [1, 2, 3] })
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}
