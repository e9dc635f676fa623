import { runAtOnce } from '@krmkit/base/work'
import type { JsonValue } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { createSchemaNode } from '../schema-node.ts'
import { pruneValue } from './prune.direct.ts'
import * as paced from './prune.ts'

const node = createSchemaNode({
  type: 'object',
  properties: {
    size: { type: 'integer' },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'object' } } },
    list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
  },
})
const value = (): JsonValue => ({
  size: 1,
  colour: 'red',
  open: { any: 1, known: { lost: 1 } },
  list: [{ a: 'a', b: 'b' }],
})

it.each([
  ['at once', pruneValue],
  ['with pauses', (...args: Parameters<typeof pruneValue>) => runAtOnce(paced.pruneValue(...args))],
] as const)('removes members that the schema does not specify %s', (_, prune) => {
  const pruned = value()
  const unknown: string[] = []
  prune(pruned, node, { unknown })
  expect(pruned).toEqual({ size: 1, open: { any: 1, known: {} }, list: [{ a: 'a' }] })
  expect(unknown.sort()).toEqual(['colour', 'list[0].b', 'open.known.lost'])
})
