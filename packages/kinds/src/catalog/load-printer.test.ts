import { stockProfile } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { builtInKinds } from './catalog.ts'
import { printerOf } from './load-printer.ts'

it('printers print objects that have only metadata, such as bookmarks', async () => {
  for (const definition of builtInKinds()) {
    const printer = await printerOf(definition)
    const { kind } = definition.kind
    const object = { apiVersion: 'v1', kind, metadata: { resourceVersion: '1' } }
    expect(printer.cells(object, { now: 0, profile: stockProfile }), kind).toHaveLength(printer.columns.length)
  }
})
