import { builtInKinds, createApiServer, memoryStorage } from 'krmkit'
import { expect, it } from 'vitest'
import { main } from './main.ts'
import { Widget } from './widget.ts'

it('defines, serves and uses a resource', async () => {
  const lines: string[] = []
  await main((line) => lines.push(line))
  expect(lines).toEqual([
    'a has size 3',
    'now 4, generation 2',
    'Widget.shop.example.com "b" is invalid: spec.to: Invalid value: 0: must not come before from',
    'a:green',
  ])
})

it('works the same from its exported definition', async () => {
  await using server = await createApiServer({ storage: memoryStorage(), kinds: builtInKinds() })
  const client = server.client({ user: 'admin' })
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const { status } = await client.request({
    method: 'POST',
    path,
    body: JSON.stringify(Widget.toManifest()),
    headers: { 'content-type': 'application/json' },
  })
  expect(status).toBe(201)
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  const made = await client.create(Widget, {
    metadata: { name: 'a', namespace: 'default' },
    spec: { size: 1 },
  })
  expect(made.spec).toEqual({ size: 1, color: 'red', from: 0, to: 10 })
})
