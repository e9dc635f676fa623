import { expect, it } from 'vitest'
import { KindsError } from '../kinds-error.ts'
import { defineResource } from './define-resource.ts'
import { z } from './zod.ts'

/** Definitions as callers without types write them. */

const named = { group: 'shop.example.com', kind: 'Widget' }
const schema = z.object({ spec: z.object({ size: z.number() }) })

it.each<[unknown, string]>([
  [undefined, 'defineResource needs an object such as { group, kind, versions }'],
  [{}, 'defineResource needs `group`, a DNS name'],
  [{ group: 'a.b' }, 'defineResource needs `kind`, a name such as "Widget"'],
  [named, 'defineResource needs `versions`'],
  [{ ...named, versions: {} }, 'Widget needs a version'],
  [{ ...named, versions: { v1: {} } }, 'versions.v1.schema is a zod object'],
  [{ ...named, versions: { v1: undefined } }, 'versions.v1 needs an object such as { schema }'],
  [{ ...named, versions: { v1: { schema: { type: 'object' } } } }, 'given: no zod schema'],
  [{ ...named, versions: { v1: { schema: z.string() } } }, 'given: another zod schema'],
  [{ ...named, versions: { v1: { schema, coloumns: [] } } }, 'versions.v1 has no "coloumns"; did you mean "columns"?'],
  [{ ...named, versions: { v1: { schema, served: 'no' } } }, 'versions.v1: served is true or false'],
  [{ ...named, versions: { v1: { schema } }, plurl: 'widgets' }, 'defineResource has no "plurl"; did you mean "plural"?'],
  [{ ...named, versions: { v1: { schema } }, storageVersion: 'v2' }, 'Widget has no version "v2"; versions: v1'],
  [{ ...named, versions: { v1: { schema } }, shortNames: 'w' }, 'shortNames is a list of strings, not "w"'],
  [{ ...named, kind: 3, versions: { v1: { schema } } }, 'kind is a string, not 3'],
])('definition %# is an error that names its member', (options, message) => {
  const call = () => defineResource(options as never)
  expect(call).toThrow(KindsError)
  expect(call).toThrow(message)
})

it('has handles of its versions only', () => {
  const widget = defineResource({ ...named, versions: { v1: { schema } } })
  expect(widget.at('v1').version).toBe('v1')
  expect(() => widget.at('v2' as never)).toThrow('Widget has no version "v2"; versions: v1')
})
