import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import { printerOf } from '../catalog/load-printer.ts'
import type { Cell, Column } from '../interfaces.ts'
import { printers } from '../strategies/printers.ts'

/** Compares every recorded Table of a built-in kind with ours, for the object as last seen in the scenario. */

const scenarios = new URL('../../../../../shared/wire/scenarios/', import.meta.url)
const present = existsSync(scenarios)
const catalog = createCatalog()

interface Table {
  kind: 'Table'
  columnDefinitions: Pick<Column, 'name' | 'type' | 'format' | 'priority'>[]
  rows: { cells: Cell[]; object?: { metadata?: { name?: string } } | null }[]
}

interface Scenario {
  steps: { id: string; path?: string; method?: string; query?: Record<string, string>; body?: unknown }[]
  expected: Record<string, { status?: number; body?: unknown }>
}

const placeholders = new Set(['<masked>', '<any>', '<age>'])

describe.skipIf(!present)('recorded Tables (skipped when ../shared is absent)', () => {
  let compared = 0
  for (const [name, scenario] of present ? readScenarios() : []) {
    const tables = scenario.steps.filter(({ id }) => isTable(scenario.expected[id]?.body))
    if (tables.length === 0) continue
    it(`${name} [P31 P32 P33]`, async () => {
      const objects = new Map<string, ApiObject>()
      for (const step of scenario.steps) {
        const body = scenario.expected[step.id]?.body
        if (isTable(body) && step.path !== undefined) compared += await compare(body, step.path, objects)
        else if (step.query?.dryRun === undefined) remember(body, objects, step.body)
        if (scenario.expected[step.id]?.status === 201) bind(step, objects)
      }
    })
  }

  it('compares more than the minimum of rows', () => {
    expect(compared).toBeGreaterThan(60)
  })
})

function readScenarios(): [string, Scenario][] {
  return readdirSync(scenarios).flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, scenarios)).map((file): [string, Scenario] => {
      const text = readFileSync(new URL(`${folder}/${file}`, scenarios), 'utf8')
      return [`${folder}/${file.replace('.json', '')}`, JSON.parse(text.replaceAll('{ns}', 'ns-{id}')) as Scenario]
    }),
  )
}

function isTable(body: unknown): body is Table {
  return (body as Table | undefined)?.kind === 'Table' && Array.isArray((body as Table).columnDefinitions)
}

/** Values masked in the recorded response are taken from the request or from earlier responses. */
function remember(body: unknown, objects: Map<string, ApiObject>, request: unknown): void {
  const object = body as (ApiObject & { items?: ApiObject[] }) | undefined
  if (object?.kind === undefined) return
  for (const item of Array.isArray(object.items) ? object.items : []) {
    keep({ ...item, apiVersion: object.apiVersion, kind: object.kind.replace(/List$/, '') }, objects, undefined)
  }
  keep(object, objects, request)
}

/** A binding responds with a Status; the pod has its node afterwards. */
function bind({ path, query, body }: Scenario['steps'][number], objects: Map<string, ApiObject>): void {
  const binding = body as { metadata?: { name?: string }; target?: { name: string } } | undefined
  const name = /\/pods\/([^/]+)\/binding$/.exec(path ?? '')?.[1] ?? binding?.metadata?.name
  const pod = objects.get(`Pod/${name}`)
  if (pod === undefined || binding?.target === undefined || query?.dryRun !== undefined) return
  objects.set(`Pod/${name}`, { ...pod, spec: { ...(pod.spec as object), nodeName: binding.target.name } })
}

function keep(object: ApiObject, objects: Map<string, ApiObject>, request: unknown): void {
  const [group, version] = object.apiVersion?.includes('/') ? object.apiVersion.split('/') : ['', object.apiVersion]
  const definition = catalog.serving({ group: group!, version: version!, kind: object.kind })
  const metadata = unmask(object.metadata, (request as ApiObject | undefined)?.metadata) as ApiObject['metadata'] | undefined
  if (definition === undefined || metadata?.name === undefined) return
  const key = `${object.kind}/${metadata.name}`
  const full = unmask(unmask({ ...object, metadata }, request), objects.get(key)) as ApiObject
  objects.set(key, definition.toStorage?.(full) ?? full)
}

function unmask(value: unknown, other: unknown): unknown {
  if (value === '<masked>') return other ?? value
  if (Array.isArray(value)) return value.map((each, i) => unmask(each, Array.isArray(other) ? other[i] : undefined))
  if (typeof value !== 'object' || value === null) return value
  const from = (typeof other === 'object' && other !== null ? other : {}) as Record<string, unknown>
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unmask(each, from[name])]))
}

async function compare(table: Table, path: string, objects: ReadonlyMap<string, ApiObject>): Promise<number> {
  const [, root, ...rest] = path.split('/')
  const [group, version] = root === 'api' ? ['', rest.shift()!] : [rest.shift()!, rest.shift()!]
  if (rest[0] === 'namespaces' && rest.length > 2) rest.splice(0, 2)
  const definition = catalog.resource({ group, version, resource: rest[0]! })
  if (definition === undefined) return 0
  const printer = rest[2] === 'scale' ? printers['autoscaling/Scale']! : await printerOf(definition)
  expect(printer.columns.map(({ name, type, format, priority }) => ({ name, type, format, priority }))).toEqual(
    table.columnDefinitions,
  )
  let rows = 0
  for (const row of table.rows) {
    const at = table.columnDefinitions.findIndex(({ format, name }) => format === 'name' || name === 'Name')
    const object = objects.get(`${definition.kind.kind}/${row.object?.metadata?.name ?? String(row.cells[at])}`)
    if (object === undefined || rest[2] === 'scale') continue
    const cells = printer.cells(object, { now: 0 })
    const unknown = (i: number) => object.status === '<masked>' && printer.columns[i]?.name === 'Status'
    expect(cells.map((cell, i) => (placeholders.has(String(row.cells[i])) || unknown(i) ? row.cells[i] : cell))).toEqual(
      row.cells,
    )
    rows++
  }
  return rows
}
