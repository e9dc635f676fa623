import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, test as base, beforeEach, describe, expect } from 'vitest'
import { describeRun } from './cluster-per-test.ts'
import { configMaps, namespaces } from './resources.fixture.ts'
import { clusterPerTest, createTestServer } from './test-server.ts'
import { clusterFixtures } from './vitest.ts'

const seed = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seeded' } }]
const names = ({ items }: { readonly items: readonly { readonly metadata: { readonly name?: string } }[] }) =>
  items.map(({ metadata }) => metadata.name)

describe('fixtures of vitest', () => {
  const test = base.extend(clusterFixtures({ controllers: [], seed }))

  test('Give Each Test its namespace!', async ({ cluster, namespace }) => {
    expect(namespace).toBe('give-each-test-its-namespace-1')
    await cluster.client.get(namespaces, namespace)
    await cluster.client.create(configMaps, { metadata: { name: 'a', namespace } }, { namespace })
    expect(cluster.ledger.entries).toHaveLength(2)
  })

  test('give each test the seed alone', async ({ cluster, namespace }) => {
    expect(namespace).toBe('give-each-test-the-seed-alone-2')
    expect(names(await cluster.client.list(configMaps, {}))).toEqual(['seeded'])
  })

  base('report the requests and the seed when a test fails', async () => {
    const failed: (() => void)[] = []
    const reports: string[] = []
    const faults = { rate: 0, seed: 7 }
    const { cluster } = clusterFixtures({ controllers: [], faults, report: (text) => reports.push(text) })
    await cluster({ task: { name: 'x' }, onTestFailed: (listener) => failed.push(listener) }, async ({ client }) => {
      await client.create(configMaps, { metadata: { name: 'a' } })
    })
    for (const listener of failed) listener()
    expect(reports).toEqual([
      [
        'random faults with seed 7: createTestServer({ faults: { seed: 7, ... } })',
        'the last 1 requests:',
        '  201 create /api/v1/namespaces/default/configmaps (test-admin)',
      ].join('\n'),
    ])
  })

  base('keep the inspector page of a failed test', async () => {
    const inspectorFolder = await mkdtemp(join(tmpdir(), 'krmkit-pages-'))
    const failed: (() => void | Promise<void>)[] = []
    const reports: string[] = []
    const options = { controllers: [], inspectorFolder, report: (text: string) => void reports.push(text) }
    const context = {
      task: { name: 'it fails' },
      onTestFailed: (listener: () => void | Promise<void>) => void failed.push(listener),
    }
    await clusterFixtures(options).cluster(context, async ({ client }) => {
      await client.create(configMaps, { metadata: { name: 'wrong' } })
    })
    for (const listener of failed) await listener()
    const file = join(inspectorFolder, 'it-fails-1.html')
    expect(reports[0]).toContain(`inspector: ${file}`)
    expect(await readFile(file, 'utf8')).toContain('ConfigMap default/wrong')
    await rm(inspectorFolder, { recursive: true })
  })
})

describe('clusterPerTest', () => {
  const current = clusterPerTest({ beforeEach, afterEach, afterAll }, { controllers: [], seed })

  base.each([1, 2])('gives test %i a fork and a namespace', async (number) => {
    const { cluster, namespace } = current
    expect(namespace).toBe(`test-${number}`)
    expect(names(await cluster.client.list(configMaps, {}))).toEqual(['seeded'])
    await cluster.client.create(configMaps, { metadata: { name: 'more' } })
  })

  base('has no cluster outside tests, and needs a hook that closes it', () => {
    const none = clusterPerTest({ beforeEach: () => undefined, afterEach: () => undefined, after: () => undefined })
    expect(() => none.cluster).toThrow(expect.objectContaining({ code: 'Closed' }))
    expect(() => clusterPerTest({ beforeEach: () => undefined, afterEach: () => undefined })).toThrow(
      'neither `afterAll` nor `after`',
    )
  })
})

base('the description of a run marks requests whose response was lost', async () => {
  await using cluster = await createTestServer({ controllers: [] })
  cluster.faults.next({}, { unreachable: true })
  await cluster.client.list(configMaps).catch(() => undefined)
  expect(describeRun(cluster)).toBe('the last 1 requests:\n  --- list /api/v1/configmaps (test-admin)')
})
