import type { FrozenObject } from '@krmkit/apiserver/request-trace'
import { runAtOnce } from '@krmkit/base/work'
import { describe, expect, it } from 'vitest'
import type { LedgerEntry } from '../ledger.ts'
import { pageParts } from './page.ts'
import { buildReport, type InspectorReport } from './report.ts'

/** A request that wrote an object. */
function entry(after: object, { before, query = '' }: { readonly before?: object; readonly query?: string } = {}): LedgerEntry {
  const attributes = {
    verb: 'patch',
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    namespace: '',
    name: 'a',
  }
  const write = { before: before as FrozenObject, after: after as FrozenObject, manager: 'm', attempts: 1, decisions: [] }
  const trace = { writes: [write], decisions: [] } as unknown as LedgerEntry['trace'] & object
  return {
    ...attributes,
    ...{ method: 'PATCH', path: '/p', query, user: 'u', code: 200, atMs: 0, isController: false, userAgent: '', trace },
  }
}

const configMap = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: '1' }, data })
const secret = (members: object, annotations = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', uid: '2', annotations } },
  ...members,
})
const manyKeys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v'.repeat(20)]))

function reportOf(...entries: readonly LedgerEntry[]): InspectorReport {
  return runAtOnce(buildReport({ entries, runs: [], dropped: 0 }))
}

describe('the report of the inspector', () => {
  it('omits the content of large objects', () => {
    const { objects } = reportOf(entry(configMap(manyKeys(30_000))), entry(configMap({ k: 'v'.repeat(100_000) })))
    expect(objects[0]?.versions.map(({ changes, lines }) => [changes, lines.length])).toEqual([
      [['the object is too large to be shown'], 0],
      [['the object is too large to be shown'], 0],
    ])
  })

  it('keeps the newest requests within the size limit', () => {
    const entries = Array.from({ length: 900 }, (_, i) => ({ ...entry(configMap({ ...manyKeys(500), k: `${i}` })), code: i }))
    const report = reportOf(...entries)
    expect(report.omitted).toBeGreaterThan(50)
    expect(report.requests.length + report.omitted).toBe(900)
    expect(report.requests.at(-1)?.code).toBe(899)
    expect(report.objects[0]?.versions.map(({ request }) => report.requests[request]?.code).at(0)).toBe(report.omitted)
    const page = [...pageParts(report)]
    expect(page.join('')).toContain(`${report.omitted} older requests are not shown`)
    expect(page.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(32 << 20)
    expect(Math.max(...page.map(({ length }) => length))).toBeLessThan(1 << 20)
  })

  it('truncates long strings', () => {
    const [request] = reportOf(entry(configMap({ k: 'v' }), { query: `labelSelector=${'x'.repeat(100_000)}` })).requests
    expect(request?.target.length).toBeLessThan(2010)
  })

  it('can pause after each write', () => {
    const steps = buildReport({ entries: [entry(configMap({})), entry(configMap({}))], runs: [], dropped: 0 })
    expect([...steps]).toEqual(Array(8).fill(true))
  })

  it('hides the values of Secrets, but marks changed ones', () => {
    const before = secret(
      { data: { a: 'SECRET-A', b: 'SECRET-B' } },
      { 'kubectl.kubernetes.io/last-applied-configuration': 'SECRET-C' },
    )
    const after = secret({ data: { a: 'SECRET-D', b: 'SECRET-B' }, stringData: { c: 'SECRET-E' } })
    const report = reportOf(entry(before), entry(after, { before }))
    expect([...pageParts(report)].join('')).not.toContain('SECRET-')
    const changes = report.objects[0]?.versions[1]?.changes
    expect(changes).toContain('modified .data.a: "(redacted)" -> "(redacted, changed)"')
    expect(changes?.filter((change) => change.includes('.data.b'))).toEqual([])
  })

  it('hides credentials in queries', () => {
    const [request] = reportOf(entry(configMap({}), { query: 'limit=1&token=abc&access_token=def' })).requests
    expect(request?.target).toBe('PATCH /p?limit=1&token=REDACTED&access_token=REDACTED')
  })

  it('marks the lines below a changed field', () => {
    const before = configMap({ a: 'x', 'a.b': 'y' })
    const [object] = reportOf(entry(configMap({ a: 'z', 'a.b': 'y', c: 'n' }), { before })).objects
    const marked = object?.versions[0]?.lines.filter(({ isChanged }) => isChanged).map(({ text }) => text.trim())
    expect(marked).toEqual(['a: z', 'a.b: "y"', 'c: "n"'])
  })
})
