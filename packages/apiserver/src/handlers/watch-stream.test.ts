import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { administrator, requestOf, type SampleServer, sampleServer } from '../testing/sample-server.ts'

const maps = '/api/v1/namespaces/default/configmaps'

const turn = () => new Promise((resolve) => setImmediate(resolve))

function create(sample: SampleServer, name: string, text = ''): Promise<unknown> {
  return sample.ask(maps, { method: 'POST', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text } } })
}

/** A reader with one pending `next()`, which takes ready chunks when `isTaking` says so. */
async function read({ server }: SampleServer, target: string, isTaking: () => boolean = () => true) {
  const gone = new AbortController()
  const { body } = await server.handle(requestOf(target, { user: administrator, signal: gone.signal }))
  if (body.kind !== 'stream') throw new Error('no stream')
  const { stream, ready } = body
  const seen: string[] = []
  const taken: string[] = []
  const add = (chunk: Uint8Array, list: string[]) => {
    for (const line of new TextDecoder().decode(chunk).trimEnd().split('\n')) {
      const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } }
      list.push(`${type} ${object.metadata.name}`)
    }
  }
  const takeAll = () => {
    for (const chunk of ready?.take() ?? []) {
      add(chunk, seen)
      add(chunk, taken)
    }
  }
  if (ready !== undefined) {
    ready.onReady = () => {
      if (isTaking()) takeAll()
      else setImmediate(takeAll)
    }
  }
  const ended = (async () => {
    for await (const chunk of stream) add(chunk, seen)
  })()
  await turn()
  return { seen, taken, ended, leave: () => gone.abort() }
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !condition(); i++) await turn()
}

describe('the ready chunks of a watch', () => {
  it('contain the changes, which the stream does not return again', async () => {
    const sample = await sampleServer()
    const { seen, taken, ended, leave } = await read(sample, `${maps}?watch=1&resourceVersion=0`)
    await create(sample, 'a')
    await until(() => seen.length === 1)
    expect(taken).toEqual(['ADDED a'])
    expect(seen).toEqual(['ADDED a'])
    leave()
    await ended
  })

  it('keep the order of events, each once, whenever they are taken', async () => {
    const sample = await sampleServer()
    const random = seededRandom(16)
    const { seen, ended, leave } = await read(sample, `${maps}?watch=1`, () => (random.bytes(1)[0] ?? 0) < 128)
    const names = Array.from({ length: 60 }, (_, i) => `m${i}`)
    for (const name of names) {
      // Some objects are larger than a chunk, so that the stream returns them.
      await create(sample, name, (random.bytes(1)[0] ?? 0) < 40 ? 'x'.repeat(70_000) : '')
      if ((random.bytes(1)[0] ?? 0) < 100) await turn()
    }
    await until(() => seen.length === names.length)
    expect(seen).toEqual(names.map((name) => `ADDED ${name}`))
    leave()
    await ended
  })

  it('end with the stream when the server closes', async () => {
    const sample = await sampleServer()
    const { seen, ended } = await read(sample, `${maps}?watch=1`)
    await create(sample, 'a')
    await until(() => seen.length === 1)
    await sample.server.close()
    await ended
    expect(seen).toEqual(['ADDED a'])
  })
})

describe('an idle watch', () => {
  it('keeps neither its initial objects nor the events that it has sent in memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const sample = await sampleServer()
    const { storage } = sample
    await create(sample, 'initial')
    const idle = await read(sample, `${maps}?watch=1&resourceVersion=0`)
    const entryOf = (name: string) => new WeakRef(storage.peek(`/core/configmaps/default/${name}`) as object)
    // Too large for `take`.
    await create(sample, 'large', 'x'.repeat(100_000))
    const kept = [entryOf('initial'), entryOf('large')]
    for (const name of ['initial', 'large']) await sample.ask(`${maps}/${name}`, { method: 'DELETE' })
    await until(() => idle.seen.includes('DELETED large'))
    // History leaves memory in segments of a MiB, and the cache of frames holds eight.
    const other = maps.replace('default', 'kube-system')
    const later = await read(sample, `${other}?watch=1&resourceVersion=0`)
    for (let i = 0; i < 10; i++) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${i}` }, data: { text: 'x'.repeat(900_000) } }
      await sample.ask(other, { method: 'POST', body })
    }
    await until(() => later.seen.includes('ADDED m9'))
    await storage.compact(storage.revision)
    await turn()
    collect()
    expect(kept.map((entry) => entry.deref() !== undefined)).toEqual([false, false])
    for (const watch of [idle, later]) {
      watch.leave()
      await watch.ended
    }
  })
})
