import { readFileSync } from 'node:fs'
import { type ApiObject, createNamingProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { builtInKinds } from '../catalog/catalog.ts'
import { printerOf } from '../catalog/load-printer.ts'
import type { Cell, RowCondition } from '../interfaces.ts'
import { printers } from '../strategies/printers.ts'
import { defaultPrinter } from './default.ts'

interface Vector {
  readonly name: string
  readonly key: string
  readonly now: string
  readonly object: ApiObject
  readonly cells: readonly Cell[]
  readonly conditions: readonly RowCondition[]
}

const vectors = JSON.parse(readFileSync(new URL('../../testdata/printers.json', import.meta.url), 'utf8')) as Vector[]

describe('printers', () => {
  it.each(vectors.map((vector) => [vector.key, vector.name, vector] as const))('%s: %s [P31]', (key, _, vector) => {
    const printer = printers[key]!
    expect(printer.cells(vector.object, { now: Date.parse(vector.now) })).toEqual(vector.cells)
    expect(printer.conditions?.(vector.object) ?? []).toEqual(vector.conditions)
  })

  it.each(Object.keys(printers))('%s gives a cell for every column, also for an almost empty object [P32]', (key) => {
    const printer = printers[key]!
    const empty = { apiVersion: 'v1', kind: 'K', metadata: {} }
    expect(printer.cells(empty, { now: 0 })).toHaveLength(printer.columns.length)
    const hollow = { ...empty, spec: {}, status: {} }
    for (const cell of printer.cells(hollow, { now: 0 })) expect(cell).not.toBeUndefined()
    for (const column of printer.columns) expect(column.description).toMatch(/^[A-Z].*\.$/)
  })

  it('shows name and creation time for kinds without columns [P33]', async () => {
    expect(defaultPrinter.columns.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Created At', 'date'],
    ])
    const metadata = { name: 'a', creationTimestamp: '2024-05-01T10:00:00Z' }
    expect(defaultPrinter.cells({ apiVersion: 'v1', kind: 'K', metadata }, { now: 0 })).toEqual(['a', '2024-05-01T10:00:00Z'])
    const stored = builtInKinds().filter(({ resource }) => !resource.virtual)
    const loaded = await Promise.all(stored.map(async (each) => [each.kind.kind, await printerOf(each)] as const))
    expect(loaded.filter(([, printer]) => printer === defaultPrinter).map(([kind]) => kind)).toEqual([
      'LimitRange',
      'ClusterRole',
      'Role',
      'CSIStorageCapacity',
      'CustomResourceDefinition',
    ])
  })

  it('reads labels and annotations of the profile', () => {
    const profile = createNamingProfile({ domain: 'cluster.example' })
    const metadata = { name: 'n', labels: { 'node-role.cluster.example/a': '', 'node-role.kubernetes.io/b': '' } }
    expect(printers['/Node']!.cells({ apiVersion: 'v1', kind: 'Node', metadata }, { now: 0, profile })[2]).toBe('a')
  })

  it('lists flow schemas in matching order', () => {
    const schema = (name: string, matchingPrecedence: number) => ({
      apiVersion: 'v1',
      kind: 'FlowSchema',
      metadata: { name },
      spec: { matchingPrecedence },
    })
    const all = [schema('c', 2), schema('b', 1), schema('a', 2)]
    const { compare } = printers['flowcontrol.apiserver.k8s.io/FlowSchema']!
    expect([...all].sort(compare).map(({ metadata }) => metadata.name)).toEqual(['b', 'a', 'c'])
  })
})
