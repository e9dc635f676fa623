/** Histories of three stores on three members of etcd, one of which is killed, paused or cut off, behind a network that fails. */
import { RandomChoices } from '../../../packages/base/src/random-choices.ts'
import { etcdStorage } from '../../../packages/storage/src/etcd/etcd-storage.ts'
import { EtcdCluster } from '../../../packages/storage/src/etcd/testing/etcd-cluster.ts'
import { etcdProgram, withoutEtcd } from '../../../packages/storage/src/etcd/testing/etcd-process.ts'
import { clientOf } from '../../../packages/storage/src/testing/linearizability/history-client.ts'
import type { StorageOperation } from '../../../packages/storage/src/testing/linearizability/operation.ts'
import { recordHistory } from '../../../packages/storage/src/testing/linearizability/record-history.ts'
import { FaultCounts, type HistoryBackend, pause } from './backend.ts'

const timeoutMs = 1500
const together = 8

/** What happens to the leader, or to another member, in the middle of the histories. */
const faultNames = [
  'killed',
  'paused',
  'isolated from members',
  'isolated from clients',
  'connections reset',
  'slow network',
] as const

/** Faults of the network between clients and all members. */
const concernsAll: ReadonlySet<string> = new Set(['connections reset', 'slow network'] satisfies (typeof faultNames)[number][])

export async function openEtcd(): Promise<HistoryBackend | string> {
  const program = etcdProgram()
  if (program === undefined) return withoutEtcd
  const cluster = await EtcdCluster.start(program)
  const faults = new FaultCounts()
  let count = 0
  return {
    together,
    async record(seeds) {
      const choices = new RandomChoices(seeds[0] ?? 0, 1000)
      const batch = ++count
      const recording = Promise.all(seeds.map((seed) => recordOne(cluster, `/history-${batch}-${seed}`, seed)))
      const isOver = recording.then(
        () => true,
        () => true,
      )
      while (!(await Promise.race([isOver, pause(300 + choices.below(700))]))) await disturb(cluster, choices, faults)
      return recording
    },
    faults: faults.counts,
    close: () => cluster.dispose(),
  }
}

async function recordOne(cluster: EtcdCluster, prefix: string, seed: number): Promise<StorageOperation[]> {
  const open = (first: number) =>
    etcdStorage({ endpoints: cluster.endpoints(first), prefix, timeoutMs, compactionIntervalMs: 0 }).catch(() => undefined)
  const stores = []
  for (let first = 0; stores.length < 3; first++) {
    // A fault can be in the way.
    const store = await open(first)
    if (store !== undefined) stores.push(store)
  }
  const clients = stores.flatMap((store) => [clientOf(store), clientOf(store)])
  // Slow enough that the faults of the batch fall into each history.
  const history = await recordHistory({ clients, seed, operations: 30, pause: (choices) => pause(choices.below(120)) })
  await Promise.all(stores.map((store) => store.close()))
  return history
}

async function disturb(cluster: EtcdCluster, choices: RandomChoices, faults: FaultCounts): Promise<void> {
  const leader = await cluster.leader()
  const isLeader = choices.chance(70)
  const member = isLeader ? leader : (leader + 1) % 3
  const fault = choices.pick(faultNames)
  faults.add(concernsAll.has(fault) ? fault : `${isLeader ? 'leader' : 'follower'} ${fault}`)
  const shortly = () => pause(choices.pick([200, 800, 2 * timeoutMs]))
  switch (fault) {
    case 'killed':
      await cluster.kill(member)
      await shortly()
      await cluster.restart(member)
      break
    case 'paused':
      cluster.signal(member, 'SIGSTOP')
      await shortly()
      cluster.signal(member, 'SIGCONT')
      break
    case 'isolated from members':
      cluster.isolate(member)
      await shortly()
      cluster.heal({ lost: true })
      break
    case 'isolated from clients':
      cluster.isolateClients(member)
      await shortly()
      cluster.heal({ lost: choices.chance(50) })
      break
    case 'connections reset':
      cluster.cut()
      break
    case 'slow network':
      cluster.delay(choices.pick([50, timeoutMs / 2]))
      await shortly()
      cluster.delay(0)
  }
}
