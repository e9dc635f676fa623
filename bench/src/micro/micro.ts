/** Components in one process: the cost of each step of a request. */
import { applyPatch, createTypeConverter, trackUpdate } from '@krmkit/fieldmanager'
import { builtInTypes } from '@krmkit/kinds'
import { printers } from '@krmkit/kinds/printers'
import { type ApiObject, parseLabelSelector } from '@krmkit/meta'
import {
  applyDefaults,
  decode,
  decodeProtobuf,
  encodeJson,
  encodeProtobuf,
  normalize,
  parseJson,
  parseYaml,
  printYaml,
  readEnvelope,
} from '@krmkit/schema'
import { memoryStorage } from '@krmkit/storage'
import { Bench, type Task } from 'tinybench'
import { bytesOf, configMap, deployment, pod } from '../objects.ts'
import { authorizationRows } from './authorization.ts'

export interface Micro {
  readonly name: string
  readonly microseconds: number
  readonly perSecond: number
  /** Factor relative to the previous row, which uses only the JavaScript engine. */
  readonly ratio?: number
}

type Row = readonly [name: string, run: () => unknown, pair?: true]

interface Rows extends AsyncDisposable {
  readonly rows: readonly Row[]
}

/** @param time milliseconds per measurement. */
export async function micro(time: number): Promise<Micro[]> {
  await using storage = await storageRows()
  const rows = [...encodingRows(), ...ownershipRows(), ...authorizationRows(), ...selectionRows(), ...storage.rows]
  const bench = new Bench({ time, warmupTime: time / 4 })
  for (const [name, run] of rows) bench.add(name, run)
  await bench.run()
  return bench.tasks.map((task, i) => {
    const microseconds = meanMicroseconds(task)
    const previous = bench.tasks[i - 1]
    const isPair = rows[i]?.[2] === true && previous !== undefined
    return {
      name: task.name,
      microseconds,
      perSecond: 1e6 / microseconds,
      ...(isPair ? { ratio: microseconds / meanMicroseconds(previous) } : {}),
    }
  })
}

function meanMicroseconds({ result }: Task): number {
  return ((result as { latency?: { mean: number } } | undefined)?.latency?.mean ?? Number.NaN) * 1000
}

const types = builtInTypes()
const ConfigMap = types.struct('core/v1.ConfigMap')
const Deployment = types.struct('apps/v1.Deployment')
const bytes = bytesOf(configMap('a', 1))
const large = bytesOf(deployment('d', 1))

function decodedConfigMap(): ApiObject {
  return decode(ConfigMap, parseJson(bytes).value).object as unknown as ApiObject
}

function encodingRows(): Row[] {
  const list = bytesOf({ items: Array.from({ length: 850 }, (_, i) => configMap(`cm-${i}`, i)) })
  const map = decodedConfigMap()
  const decoded = decode(Deployment, parseJson(large, { literals: true }).value).object as unknown as ApiObject
  const canonical = normalize(Deployment, structuredClone(applyDefaults(Deployment, decoded)))
  const yaml = printYaml(canonical)
  const envelope = encodeProtobuf(Deployment, canonical)
  return [
    ['1.1 MB: native JSON.parse', () => JSON.parse(new TextDecoder().decode(list))],
    ['1.1 MB: strict parse', () => parseJson(list, { literals: true }), true],
    ['ConfigMap 1 KB: native JSON.parse', () => JSON.parse(new TextDecoder().decode(bytes))],
    ['ConfigMap 1 KB: parse and decode', () => decode(ConfigMap, parseJson(bytes, { literals: true }).value), true],
    ['ConfigMap 1 KB: encode', () => encodeJson(map)],
    ['Deployment 1.2 KB: parse and decode', () => decode(Deployment, parseJson(large, { literals: true }).value)],
    ['Deployment: encode JSON', () => encodeJson(canonical)],
    ['Deployment: encode protobuf', () => encodeProtobuf(Deployment, canonical), true],
    ['Deployment: decode protobuf', () => decodeProtobuf(Deployment, readEnvelope(envelope))],
    ['Deployment: parse YAML', () => parseYaml(yaml)],
    ['Deployment: print YAML', () => printYaml(canonical)],
  ]
}

function ownershipRows(): Row[] {
  const map = decodedConfigMap()
  const changed = { ...map, data: { ...(map['data'] as object), v: '2' } } as ApiObject
  const ownedTypes = createTypeConverter({ v1: () => ConfigMap, 'apps/v1': () => Deployment })
  const tracked = { manager: 'bench', apiVersion: 'v1', now: 0, types: ownedTypes }
  const owned = trackUpdate({ ...tracked, next: map })
  const request = {
    applied: parseJson(large).value as ApiObject,
    manager: 'bench',
    force: false,
    apiVersion: 'apps/v1',
    types: ownedTypes,
  }
  const applied = applyPatch({ ...request, now: 0 })
  if (applied.kind !== 'applied') throw new Error('unexpected conflict of the first apply')
  const live = applied.object
  return [
    ['track an update of a ConfigMap', () => trackUpdate({ ...tracked, live: owned, next: changed })],
    ['apply an unchanged Deployment', () => applyPatch({ ...request, live, now: 1 })],
  ]
}

function selectionRows(): Row[] {
  const selector = parseLabelSelector('app in (web,api),tier!=back,shard')
  const labels = { app: 'web', tier: 'front', shard: 's1' }
  const pods = Array.from({ length: 500 }, (_, i) => pod(`pod-${i}`) as unknown as ApiObject)
  const printer = printers['/Pod']
  return [
    ['match a label selector', () => selector.matches(labels)],
    ['cells of a table of 500 pods', () => pods.map((each) => printer?.cells(each, { now: 0 }))],
  ]
}

async function storageRows(): Promise<Rows> {
  const store = memoryStorage()
  const plain = new Map<string, Uint8Array>()
  let next = 0
  for (let i = 0; i < 5000; i++) await store.put(`/bench/list/${i}`, () => bytes)
  const watchers = Array.from({ length: 100 }, () => store.watch({ prefix: '/bench/watch/', from: store.revision }))
  const rows: Row[] = [
    ['plain Map: set', () => plain.set(`/bench/put/${next++ % 1000}`, bytes)],
    ['memory store: put', () => store.put(`/bench/put/${next++ % 1000}`, () => bytes), true],
    ['memory store: list of 5 000', () => store.list({ prefix: '/bench/list/' })],
    [
      'memory store: put that 100 watchers take',
      async () => {
        await store.put(`/bench/watch/${next++ % 100}`, () => bytes)
        for (const watcher of watchers) watcher.take()
      },
    ],
  ]
  return {
    rows,
    async [Symbol.asyncDispose]() {
      for (const watcher of watchers) watcher.close()
      await store.close()
    },
  }
}
