import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RandomChoices } from '@krmkit/base/random-choices'
import { systemClock } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BreakingProxy, breakingProxy } from './support/breaking-proxy.ts'
import { makeTrouble } from './support/chaos.ts'
import { fastClock } from './support/fast-clock.ts'
import { type LocalServer, startLocalServer } from './support/local-server.ts'
import { configMaps } from './support/pens.ts'
import { runSeed } from './support/run-seed.ts'
import { cacheFolder, type Finished, lastLine, run } from './support/tool.ts'
import { typedObjects } from './support/typed-objects.ts'
import { lost, wireForm } from './support/wire-form.ts'

/** The Python client, in an environment that is created once. Skipped when it cannot be installed. */

const packageVersion = 'kubernetes==33.1.0'
const seed = runSeed()
const speed = 200
const script = (name: string) => fileURLToPath(new URL(`./python/${name}.py`, import.meta.url))

const python = await install()

let local: LocalServer
let proxy: BreakingProxy

async function install(): Promise<{ readonly path: string; readonly missing?: string }> {
  const folder = await cacheFolder(`python-${packageVersion.replace(/\W+/g, '-')}`)
  const path = join(folder, 'bin', 'python3')
  const done = join(folder, 'installed')
  if (
    await access(done).then(
      () => true,
      () => false,
    )
  )
    return { path }
  const steps: [program: string, args: string[], env?: NodeJS.ProcessEnv][] = [
    ['python3', ['-m', 'venv', '--clear', folder]],
    [path, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', packageVersion]],
    [path, ['-c', `import kubernetes; open(${JSON.stringify(done)}, "w").write(kubernetes.__version__)`]],
  ]
  for (const [program, args] of steps) {
    const finished: Finished = await run(program, args, { timeoutMs: 150_000 })
    if (finished.code !== 0) return { path, missing: lastLine(finished) || `${program} did not finish` }
  }
  return { path }
}

beforeAll(async () => {
  local = await startLocalServer({
    clock: fastClock(systemClock, speed),
    limits: { requestTimeoutMs: 60_000 * speed, watchMs: 2_000 * speed },
  })
  proxy = await breakingProxy({ host: '127.0.0.1', port: local.port })
})

afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await local[Symbol.asyncDispose]()
})

/** Isolated from the machine: no home, no proxies, no other kubeconfig. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: local.folder, TMPDIR: local.folder, PYTHONUNBUFFERED: '1', LANG: 'C.UTF-8' }
}

interface Report {
  readonly listed: Record<string, unknown[]>
  readonly written: Record<string, unknown[]>
  readonly mirrors: Record<
    'all' | 'left',
    { state: Record<string, unknown[]>; counts: Record<string, number>; complaints: string[] }
  >
}

describe.skipIf(python.missing !== undefined)(
  `the Python client, ${python.missing === undefined ? `seed ${seed}` : `skipped: ${python.missing}`}`,
  () => {
    it('mirrors its random writes over an unreliable network [P141, P156, P158, P29, P302, P314, S103]', async () => {
      const files = ['--direct', await local.kubeconfig(), '--proxied', await local.kubeconfig(`https://127.0.0.1:${proxy.port}`)]
      let trouble = { compactions: 0 }
      const finished = await run(python.path, [script('mirror'), ...files, '--writes', '2000', '--seed', String(seed)], {
        env: environment(),
        timeoutMs: 100_000,
        running: (child) => {
          trouble = makeTrouble(child, { local, proxy, random: new RandomChoices(seed), everyMs: 400 })
        },
      })
      expect([finished.code, finished.stderr]).toEqual([0, ''])
      const { listed, written, mirrors } = JSON.parse(finished.stdout.trim().split('\n').at(-1) ?? '') as Report
      const { items } = await local.client.list(configMaps)
      const truth = Object.fromEntries(
        items.map(({ metadata: { namespace, name, resourceVersion, uid, labels = {} }, data = {} }) => [
          `${namespace}/${name}`,
          [resourceVersion, uid, data, labels],
        ]),
      )
      expect(listed).toEqual(truth)
      expect(written).toEqual(truth)
      expect(mirrors.all.state).toEqual(truth)
      expect(mirrors.left.state).toEqual(
        Object.fromEntries(
          items
            .filter(({ metadata }) => metadata.labels?.['side'] === 'left')
            .map(({ metadata: { namespace, name } }) => [`${namespace}/${name}`, truth[`${namespace}/${name}`]]),
        ),
      )
      expect([...mirrors.all.complaints, ...mirrors.left.complaints]).toEqual([])
      expect(trouble.compactions).toBeGreaterThan(0)
      expect(proxy.broken).toBeGreaterThan(0)
      expect(mirrors.all.counts['lists']).toBeGreaterThan(1)
      expect((mirrors.all.counts['bookmarks'] ?? 0) + (mirrors.left.counts['bookmarks'] ?? 0)).toBeGreaterThan(0)
    })

    it('decodes all responses of typed and dynamic calls [P1, P143, P145, P146, P161, P195]', async () => {
      const finished = await run(
        python.path,
        [script('tour'), '--kubeconfig', await local.kubeconfig(), '--cache', join(local.folder, 'discovery.json')],
        { env: environment() },
      )
      expect([finished.code, finished.stderr]).toEqual([0, ''])
      const { typed, untyped } = JSON.parse(finished.stdout) as {
        typed: Record<string, unknown>
        untyped: Record<string, unknown>
      }
      expect(typed).toMatchObject({
        kind: [2, 'RollingUpdate', null],
        scale: ['Scale', 5, 'app=web'],
        status: [4, 5, 2],
        dry: [true, [404, 'NotFound']],
        allowed: true,
        again: [409, 'AlreadyExists'],
        invalid: [422, 'Invalid'],
        log: [404, 'NotFound'],
      })
      expect(typed['empty']).toEqual(Array(9).fill(0))
      expect(typed['version']).toMatch(/^v1\.33\.\d+\+krmkit\./)
      expect(typed['groups']).toEqual(
        expect.arrayContaining(['apps', 'batch', 'events.k8s.io', 'policy', 'rbac.authorization.k8s.io']),
      )
      expect(untyped).toEqual({ data: { a: '1', b: '2' }, events: [['ADDED', 'd']], deployments: 1, gone: true })
    })

    it('typed objects of many kinds are accepted, returned and decoded without loss [P143, P145, S104, S105]', async () => {
      const objects = join(local.folder, 'objects.json')
      await writeFile(objects, JSON.stringify(wireForm(typedObjects)))
      const files = ['--kubeconfig', await local.kubeconfig(), '--objects', objects]
      const finished = await run(python.path, [script('typed'), ...files], { env: environment() })
      expect([finished.code, finished.stderr]).toEqual([0, ''])
      const report = JSON.parse(finished.stdout) as Record<string, { made: object; same: boolean; read: object }>
      expect(Object.keys(report)).toEqual(typedObjects.map(({ kind }) => kind))
      for (const { kind, ...rest } of typedObjects) {
        expect(report[kind]?.same, kind).toBe(true)
        expect(lost(wireForm({ ...rest, metadata: {} }), report[kind]?.made), kind).toEqual([])
        expect(lost(wireForm(rest), report[kind]?.read), kind).toEqual([])
      }
    })
  },
)
