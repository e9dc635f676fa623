import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { HorizontalPodAutoscaler } from '@krmkit/kinds/autoscaling/v1'
import { ConfigMap } from '@krmkit/kinds/core/v1'
import { describe, expect, it } from 'vitest'
import { type ReconcileRequest, reconciler } from '../reconciler.ts'
import { createTestServer } from '../test-server.ts'
import type { InspectorReport } from './report.ts'

const hostile =
  '</script><script>document.documentElement.dataset.injected = 1</script><img src=x onerror="document.documentElement.dataset.injected = 2">'
const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path))

async function examplePage(file?: string): Promise<string> {
  await using cluster = await createTestServer()
  cluster.run(reconciler({ name: 'watcher', resource: ConfigMap, reconcile: async () => undefined }))
  const created = await cluster.client.create(ConfigMap, { metadata: { name: 'owner' }, data: { color: 'red', text: hostile } })
  const { uid = '' } = created.metadata
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]
  const dependent = { metadata: { name: 'dependent', annotations: { note: hostile }, ownerReferences } }
  await cluster.as({ username: hostile, groups: [] }).create(ConfigMap, dependent)
  await cluster.client.patch(ConfigMap, 'owner', { type: 'merge', patch: { data: { color: 'blue' } }, fieldManager: 'painter' })
  await expect(cluster.client.get(ConfigMap, hostile)).rejects.toThrow()
  return cluster.inspect(file === undefined ? {} : { file })
}

function reportOf(page: string): InspectorReport {
  const text = /<script type="application\/json" id="report">(.*)<\/script>/.exec(page)![1]!
  return JSON.parse(text) as InspectorReport
}

describe('inspect', () => {
  it('shows requests with their decisions, and objects with changes, owners and lines', async () => {
    const report = reportOf(await examplePage())
    const patched = report.requests.find(({ what }) => what.startsWith('patch'))!
    expect(patched).toMatchObject({ what: 'patch configmaps "owner" in default', kind: 'write', user: 'test-admin', code: 200 })
    expect(patched.steps).toEqual(
      expect.arrayContaining(['authenticated test-admin by in-process', 'allowed', 'changed ConfigMap default/owner']),
    )
    const owner = report.objects.find(({ title }) => title === 'ConfigMap default/owner')!
    const version = owner.versions.at(-1)!
    expect(version).toMatchObject({ manager: 'painter', changes: ['modified .data.color: "red" -> "blue"'] })
    expect(version.ownership).toEqual(['krmkit (Update) -.data.color', 'painter (Update) +.data.color'])
    expect(version.lines).toContainEqual({ text: '  color: blue', owners: 'painter', isChanged: true })
    expect(report.objects.find(({ title }) => title.endsWith('dependent'))!.owners).toEqual(['ConfigMap default/owner'])
  })

  it('shows runs of controllers among the requests, streams of watches, and conversions', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    const reconcile = async ({ name, client }: ReconcileRequest<ConfigMap>) => {
      if (name === 'broken') throw new Error('cannot paint <b>')
      await client.patch(ConfigMap, name, { namespace: 'default', type: 'merge', patch: { data: { seen: 'yes' } } })
      return { requeueAfterMs: 5000 }
    }
    cluster.run(reconciler({ name: 'painter', resource: ConfigMap, reconcile }), { user: 'painter' })
    await cluster.client.create(ConfigMap, { metadata: { name: 'web', namespace: 'default' } })
    await cluster.client.create(ConfigMap, { metadata: { name: 'broken', namespace: 'default' } })
    const scaleTargetRef = { kind: 'Deployment', name: 'web' }
    const scaler = { metadata: { name: 'web', namespace: 'default' }, spec: { scaleTargetRef, maxReplicas: 3 } }
    await cluster.client.create(HorizontalPodAutoscaler, scaler)
    await cluster.settle()
    const { requests, runs } = reportOf(await cluster.inspect())
    const index = (what: string) => requests.findIndex((request) => request.what === what)
    const patched = index('patch configmaps "web" in default')
    const run = runs.find(({ key }) => key === 'default/web')!
    expect(run).toMatchObject({ controller: 'painter', isController: false, isFailed: false })
    expect(run.before).toBeGreaterThan(patched)
    expect(run.steps[0]).toBe('runs again in 5000 ms')
    const failed = runs.find(({ key }) => key === 'default/broken')!
    expect([failed.isFailed, failed.steps[0]]).toEqual([true, 'failed: cannot paint <b>'])
    const watch = requests.find(({ kind }) => kind === 'watch')!
    expect(watch.steps.at(-1)).toBe('3 events delivered, still open')
    expect(requests[index('create horizontalpodautoscalers "web" in default')]!.steps).toContain(
      'converted between autoscaling/v1 and autoscaling/v2, the storage version',
    )
    expect(requests[patched]!.steps.some((step) => step.startsWith('converted'))).toBe(false)
  })

  it('embeds hostile texts as data', async () => {
    const page = await examplePage()
    expect(page.match(/<script/g)).toHaveLength(2)
    expect(page.match(/<img/g)).toBeNull()
    expect(page).toMatch(
      /Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'"/,
    )
    expect(page).not.toMatch(/\b(src|href)=["']/)
  })

  it.skipIf(browser === undefined)('is rendered by Chromium without executing embedded markup', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspector-'))
    try {
      const file = join(folder, 'page.html')
      expect(await examplePage(file)).toBe(await readFile(file, 'utf8'))
      const flags = [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        `--user-data-dir=${folder}/profile`,
        '--dump-dom',
        `file://${file}`,
      ]
      const { stdout } = await promisify(execFile)(browser!, flags, { timeout: 50_000, maxBuffer: 16 << 20 })
      expect(stdout).toMatch(/<html[^>]* data-ready="[1-9]/)
      expect(stdout).not.toMatch(/<html[^>]* data-injected/)
      expect(stdout).toContain('patch configmaps "owner" in default')
      expect(stdout).toMatch(/<span class="user">watcher<\/span>default\/owner/)
      expect(stdout).toMatch(/<li>ConfigMap default\/owner<ul><li>ConfigMap default\/dependent/)
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  })
})
