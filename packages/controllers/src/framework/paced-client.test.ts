import { createClient } from '@krmkit/client'
import { fakeClock, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createPacedClient } from './paced-client.ts'

const resource = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true }

/** A client of a server that responds in the same turn, after `ms` of synchronous work. */
function busyClient(ms: number) {
  const sent: string[] = []
  const client = createClient(
    {
      async send({ path }) {
        const end = performance.now() + ms
        while (performance.now() < end);
        sent.push(path.split('/').at(-1) ?? '')
        return {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: (async function* () {
            yield new TextEncoder().encode('{"kind":"ConfigMap","apiVersion":"v1","metadata":{}}')
          })(),
        }
      },
      close: async () => undefined,
    },
    { clock: fakeClock(), random: seededRandom(1), namespace: 'ns' },
  )
  return { client, sent }
}

describe('a paced client', () => {
  it('sends a few requests in one turn of the event loop and spreads many over several, in order', async () => {
    const { client, sent } = busyClient(1)
    const paced = createPacedClient(client)
    const counts: number[] = []
    let isRunning = true
    const watch = () => {
      counts.push(sent.length)
      if (isRunning) setImmediate(watch)
    }
    setImmediate(watch)
    await Promise.all(Array.from({ length: 100 }, (_, i) => paced.get(resource, `c-${i}`)))
    isRunning = false
    expect(sent).toEqual(Array.from({ length: 100 }, (_, i) => `c-${i}`))
    const steps = counts.map((count, i) => count - (counts[i - 1] ?? 0))
    expect(Math.max(...steps)).toBeLessThanOrEqual(9)
  })

  it('returns the responses of the wrapped client and rejects with its errors', async () => {
    const { client } = busyClient(0)
    const paced = createPacedClient(client)
    expect(await paced.get(resource, 'a')).toMatchObject({ kind: 'ConfigMap' })
    expect(paced.namespace).toBe('ns')
    await paced.close()
  })
})
