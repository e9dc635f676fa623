/** A resource type from one schema, served beside the built-in kinds and used with a typed client. */
import { fileURLToPath } from 'node:url'
import { ApiError, builtInKinds, createApiServer, memoryStorage } from 'krmkit'
import { Widget } from './widget.ts'

export async function main(print: (line: string) => void): Promise<void> {
  await using server = await createApiServer({ storage: memoryStorage(), kinds: [...builtInKinds(), Widget] })
  const client = server.client({ user: 'alice', groups: ['dev'] })

  const draft = { size: 3, color: 'green', from: 1, to: 5 } as const
  const widget = await client.create(Widget, { metadata: { name: 'a', namespace: 'default' }, spec: draft })
  print(`${widget.metadata.name} has size ${widget.spec.size}`)

  const applied = { metadata: { name: 'a', namespace: 'default' }, spec: { ...draft, size: 4 } }
  const next = await client.apply(Widget, applied, { fieldManager: 'shop', force: true })
  print(`now ${next.spec.size}, generation ${next.metadata.generation}`)

  try {
    await client.create(Widget, { metadata: { name: 'b', namespace: 'default' }, spec: { ...draft, to: 0 } })
  } catch (error) {
    if (ApiError.is(error)) print(error.message)
  }
  const { items } = await client.list(Widget, { namespace: 'default' })
  print(items.map(({ metadata, spec }) => `${metadata.name}:${spec.color}`).join())
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(console.log)
