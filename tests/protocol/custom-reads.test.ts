import { seededRandom } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { startApi, type TestApi } from './server.ts'
import { catalog, widget, widgetKinds, widgets } from './widgets.ts'

/**
 * A server returns custom objects that it wrote itself directly from storage. A second server over the same storage validates
 * them by the schema on read: both must return the same.
 */

const seed = Number(process.env.READS_SEED ?? 7_402)

const any = { 'x-kubernetes-preserve-unknown-fields': true }
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        plain: { type: 'string' },
        filled: { type: 'string', default: 'from the schema' },
        nullable: { type: 'string', nullable: true },
        nullableFilled: { type: 'string', nullable: true, default: 'unless null' },
        open: { type: 'object', ...any, properties: { known: { type: 'object', properties: { a: { type: 'integer' } } } } },
        list: {
          type: 'array',
          items: { type: 'object', properties: { b: { type: 'integer', default: 3 }, a: { type: 'string' } } },
        },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { z: { type: 'string', default: '' } } } },
        template: { type: 'object', 'x-kubernetes-embedded-resource': true, ...any },
        nested: {
          type: 'object',
          default: {},
          properties: { deep: { type: 'object', default: {}, properties: { n: { type: 'integer', default: 1 } } } },
        },
      },
    },
  },
}

const random = seededRandom(seed)
const below = (limit: number): number => new DataView(random.bytes(4).buffer).getUint32(0) % limit
const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T

/** Values that fit a member, some with unknown members. */
const choices: Readonly<Record<string, readonly unknown[]>> = {
  plain: ['x', null],
  filled: ['y', null],
  nullable: ['z', null],
  nullableFilled: ['w', null],
  open: [{}, { free: { b: 1, a: null } }, { known: { a: 1, lost: 2 } }],
  list: [
    [],
    [{}],
    [
      { lost: 1, a: 'q' },
      { b: 9, a: null },
    ],
  ],
  map: [{}, { one: {}, two: { z: 'v', lost: true } }],
  template: [
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', lost: 1, labels: { b: '1', a: '2' } }, spec: { z: 1, a: 2 } },
    { kind: 'Thing', apiVersion: 'g.example.com/v1' },
  ],
  nested: [{}, { deep: {} }, { deep: { n: 4, lost: 1 } }],
  unknown: [1, { a: 1 }],
}

function someSpec(): Record<string, unknown> {
  const names = Object.keys(choices).filter(() => below(2) === 0)
  // In random order: members are printed in sorted order.
  return Object.fromEntries(names.sort(() => below(3) - 1).map((name) => [name, pick(choices[name] as readonly unknown[])]))
}

async function agree(writer: TestApi, reader: TestApi, name: string, written: string): Promise<void> {
  const label = `seed ${seed}`
  const read = await reader.get(`${widgets}/${name}`)
  expect(read.text, label).toBe(written)
  expect((await writer.get(`${widgets}/${name}`)).text, label).toBe(written)
  const list = await writer.get(widgets, { fieldSelector: `metadata.name=${name}` })
  expect(list.text, label).toBe((await reader.get(widgets, { fieldSelector: `metadata.name=${name}` })).text)
}

it('custom objects read the same from the server that wrote them and from another one', async () => {
  await using writer = await startApi({ types: catalog.types, kinds: [...catalog.definitions, ...widgetKinds(schema)] })
  const { storage } = writer
  await using reader = await startApi({ types: catalog.types, kinds: [...catalog.definitions, ...widgetKinds(schema)], storage })
  for (let round = 0; round < 150; round++) {
    const name = `w${round}`
    const created = await writer.post(widgets, widget(name, someSpec()))
    expect(created.status, created.text).toBe(201)
    await agree(writer, reader, name, created.text)
    const { metadata } = created.json
    const replaced = await writer.put(`${widgets}/${name}`, {
      ...widget(name, someSpec()),
      metadata: { name, resourceVersion: metadata.resourceVersion, labels: { z: '1', a: '2' }, annotations: {} },
    })
    expect(replaced.status, replaced.text).toBe(200)
    await agree(writer, reader, name, replaced.text)
    const patched = await writer.patch(`${widgets}/${name}`, { spec: someSpec() })
    expect(patched.status, patched.text).toBe(200)
    await agree(writer, reader, name, patched.text)
    const applied = await writer.send('PATCH', `${widgets}/${name}`, {
      query: { fieldManager: 'test', force: 'true' },
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: widget(name, { plain: 'applied', nested: { deep: { n: round } } }),
    })
    expect(applied.status, applied.text).toBe(200)
    await agree(writer, reader, name, applied.text)
  }
})
