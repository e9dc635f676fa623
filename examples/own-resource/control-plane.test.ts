import { readFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

it('the control plane of the guide serves, validates and reconciles books', async () => {
  const printed: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line))
  vi.stubEnv('PORT', '0')
  const running = import('./control-plane.ts')
  try {
    await vi.waitFor(() => expect(printed).toHaveLength(1), { timeout: 15_000 })
    const url = /http:\S+/.exec(printed[0] ?? '')?.[0] ?? ''
    const path = `${url}/apis/library.example.com/v1/namespaces/default/books`
    const create = (name: string, spec: object) =>
      fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ apiVersion: 'library.example.com/v1', kind: 'Book', metadata: { name }, spec }),
      })
    const made = await create('emma', { title: 'Emma', copies: 3, lentTo: ['ann'] })
    expect(made.status).toBe(201)
    await vi.waitFor(async () => {
      const { status } = (await (await fetch(`${path}/emma`)).json()) as { status?: object }
      expect(status).toEqual({ available: 2 })
    })
    const configMaps = `${url}/api/v1/namespaces/default/configmaps`
    expect((await fetch(configMaps)).status).toBe(200)
    expect((await fetch(configMaps, { method: 'POST' })).status).toBe(403)
    const refused = (await (await create('lost', { title: 'Lost', lentTo: ['ann', 'bob'] })).json()) as { message: string }
    expect(refused.message).toContain(
      'spec.lentTo: Invalid value: []interface {}{"ann", "bob"}: must not exceed the number of copies',
    )
  } finally {
    process.emit('SIGTERM')
    await running
    log.mockRestore()
    vi.unstubAllEnvs()
  }
})

it('the guide contains this program', () => {
  const [, shown] = /```ts control-plane.ts\n([\s\S]*?)```/.exec(read('../../docs/guide/control-plane.md')) ?? []
  expect(shown).toBe(read('./control-plane.ts'))
})
