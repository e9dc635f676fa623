import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, test as base, beforeEach, describe, expect } from 'vitest'
import { describeRun } from './failed-run.ts'
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

  test('give each test only the seed', async ({ cluster, namespace }) => {
    expect(namespace).toBe('give-each-test-only-the-seed-2')
    expect(names(await cluster.client.list(configMaps, {}))).toEqual(['seeded'])
  })

  base('report the requests and the seed when a test fails', async () => {
    const failed: (() => void | Promise<void>)[] = []
    const reports: string[] = []
    const faults = { rate: 0, seed: 7 }
    const { cluster } = clusterFixtures({ controllers: [], faults, report: (text) => reports.push(text) })
    await cluster({ task: { name: 'x' }, onTestFailed: (listener) => failed.push(listener) }, async ({ client }) => {
      await client.create(configMaps, { metadata: { name: 'a' } })
    })
    for (const listener of failed) await listener()
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
      task: { name: 'it fails', file: { name: 'src/web.test.ts' } },
      onTestFailed: (listener: () => void | Promise<void>) => void failed.push(listener),
    }
    await clusterFixtures(options).cluster(context, async ({ client }) => {
      await client.create(configMaps, { metadata: { name: 'wrong' } })
    })
    for (const listener of failed) await listener()
    const file = join(inspectorFolder, 'web-test-it-fails-1.html')
    expect(reports[0]).toContain(`inspector: ${file}`)
    expect(await readFile(file, 'utf8')).toContain('ConfigMap default/wrong')
    await rm(inspectorFolder, { recursive: true })
  })
})

/** Runs one test with hooks, called as a test runner calls them. */
async function runWith(
  call: (hook: () => Promise<void>, hasFailed: boolean | undefined) => Promise<void>,
  { fails, reported = false }: { readonly fails: boolean; readonly reported?: boolean },
) {
  const inspectorFolder = await mkdtemp(join(tmpdir(), 'krmkit-pages-'))
  const reports: string[] = []
  const registered: (() => Promise<void>)[] = []
  const add = (hook: () => Promise<void>) => void registered.push(hook)
  const options = { controllers: [], inspectorFolder, report: (text: string) => void reports.push(text) }
  const current = clusterPerTest({ beforeEach: add, afterEach: add, after: add }, options)
  const [before, after, end] = registered as [() => Promise<void>, () => Promise<void>, () => Promise<void>]
  expect(registered.map(({ length }) => length)).toEqual([0, 0, 0])
  await call(before, undefined)
  const body = async () => {
    await current.cluster.client.create(configMaps, { metadata: { name: 'a' } })
    if (fails) throw new Error('red')
  }
  const { namespace } = current
  const outcome = await (reported ? current.reported(body) : body)().then(
    () => 'passed',
    (error: Error) => error.message,
  )
  await call(after, fails)
  await end()
  const pages = await readdir(inspectorFolder)
  await rm(inspectorFolder, { recursive: true })
  return { namespace, outcome, reports: reports.length, pages }
}

type Call = Parameters<typeof runWith>[0]
const calling =
  (self: unknown, ...args: unknown[]) =>
  (hook: () => Promise<void>) =>
    Reflect.apply(hook, self, args)
const runners: readonly [string, Call][] = [
  [
    'vitest',
    (hook, failed) => {
      const result = failed === undefined ? {} : { result: { state: failed ? 'fail' : 'pass' } }
      return calling(undefined, { task: { name: 'it runs', file: { name: 'src/web.test.ts' }, ...result } })(hook)
    },
  ],
  [
    'node:test',
    (hook, failed) => calling(undefined, { name: 'it runs', filePath: '/a/web.test.ts', passed: failed === false })(hook),
  ],
  [
    'playwright',
    (hook, failed) => {
      const status = failed === undefined ? {} : { status: failed ? 'failed' : 'passed' }
      return calling(undefined, {}, { title: 'it runs', file: '/a/web.test.ts', expectedStatus: 'passed', ...status })(hook)
    },
  ],
  [
    'mocha',
    (hook, failed) => {
      const state = failed === undefined ? {} : { state: failed ? 'failed' : 'passed' }
      return calling({ currentTest: { title: 'it runs', file: '/a/web.test.ts', ...state } })(hook)
    },
  ],
]

describe('clusterPerTest with the hooks of a runner', () => {
  base.each(runners)('keeps requests and page of a failed test of %s', async (_, call) => {
    const pages = ['web-test-it-runs-1.html']
    expect(await runWith(call, { fails: true })).toEqual({ namespace: 'it-runs-1', outcome: 'red', reports: 1, pages })
    expect(await runWith(call, { fails: true, reported: true })).toMatchObject({ reports: 1, pages })
    expect(await runWith(call, { fails: false })).toMatchObject({ outcome: 'passed', reports: 0, pages: [] })
  })

  base('keeps them of a wrapped test where the runner does not tell failures', async () => {
    const silent: Call = (hook) => hook()
    expect(await runWith(silent, { fails: true, reported: true })).toMatchObject({ outcome: 'red', reports: 1 })
    expect(await runWith(silent, { fails: true })).toMatchObject({ reports: 0, pages: [] })
    expect(await runWith(silent, { fails: false, reported: true })).toMatchObject({ outcome: 'passed', reports: 0 })
  })
})

describe('clusterPerTest', () => {
  const current = clusterPerTest({ beforeEach, afterEach, afterAll }, { controllers: [], seed })

  base.each([1, 2])('gives test %i a fork and a namespace', async (number) => {
    const { cluster, namespace } = current
    expect(namespace).toBe(`gives-test-${number}-a-fork-and-a-namespace-${number}`)
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
