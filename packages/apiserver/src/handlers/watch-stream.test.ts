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
  it('are the changes, which the stream then does not return', async () => {
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
      // Some are larger than a chunk, which the stream returns.
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
