import { type Client, defineResource, resourceType } from 'krmkit'
import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'

/** The client's types for defined kinds; the type checker runs these tests. */

const Widget = defineResource({
  group: 'shop.example.com',
  kind: 'Widget',
  versions: {
    v1: {
      schema: z.object({
        spec: z.object({
          size: z.int(),
          color: z.string().default('red'),
          tags: z.array(z.object({ name: z.string(), n: z.int() })),
        }),
      }),
    },
    v1beta1: { schema: z.object({ size: z.int() }) },
  },
})
const ConfigMap = resourceType<{ apiVersion: string; kind: string; metadata: object; data?: Record<string, string> }>({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
})

it('calls with a defined kind are typed by its schema', () => {
  const calls = async (client: Client): Promise<void> => {
    const made = await client.create(Widget, { metadata: { name: 'a' }, spec: { size: 1, tags: [] } })
    expectTypeOf(made.spec.color).toEqualTypeOf<string>()
    // @ts-expect-error: size is a number
    await client.create(Widget, { metadata: { name: 'a' }, spec: { size: '1', tags: [] } })
    // @ts-expect-error: size is required
    await client.create(Widget, { metadata: { name: 'a' }, spec: { tags: [] } })
    await client.apply(Widget, { metadata: { name: 'a' }, spec: { tags: [{ name: 'x' }] } }, { fieldManager: 'me' })
    // @ts-expect-error: applied objects are partial, but typed
    await client.apply(Widget, { metadata: { name: 'a' }, spec: { tags: [{ name: 1 }] } }, { fieldManager: 'me' })
    await client.update(Widget, made)
    const beta = await client.get(Widget.at('v1beta1'), 'a')
    expectTypeOf(beta.size).toEqualTypeOf<number>()
    const { items } = await client.list(Widget)
    expectTypeOf(items[0]?.spec.size).toEqualTypeOf<number | undefined>()
    for await (const { object } of client.watch(Widget)) expectTypeOf(object.spec.color).toEqualTypeOf<string>()
  }
  expectTypeOf(calls).toBeFunction()
})

it('manually declared types still work', () => {
  const calls = async (client: Client): Promise<void> => {
    const made = await client.create(ConfigMap, { metadata: {}, data: { a: 'b' } })
    expectTypeOf(made.data?.a).toEqualTypeOf<string | undefined>()
    // @ts-expect-error: data are strings
    await client.create(ConfigMap, { metadata: {}, data: { a: 1 } })
  }
  expectTypeOf(calls).toBeFunction()
})
