import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RandomChoices } from '@krmkit/base/random-choices'
import type { Client, RawResponse } from '@krmkit/client'
import { readLifecycle } from '@krmkit/kinds'
import { ApiError } from '@krmkit/meta'
import { createTestServer } from '@krmkit/testing'
import { compareReleases } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { scanClient } from './server.ts'

const folder = temporaryFolder()

let made = 0
/** Writes files to a new folder. */
function files(contents: Readonly<Record<string, string>>): string {
  const path = join(folder, `case-${made++}`)
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(join(path, name, '..'), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

const run = (args: readonly string[], stdin = '') => runCommand(['deprecations', ...args], testTerminal({ stdin: () => stdin }))

const manifest = (apiVersion: string, kind: string, name: string) =>
  `# Source: chart/templates/${name}.yaml\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n`

interface JsonFinding {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly rule: string
  readonly removed?: string
}

/** A folder of manifests, some of them of versions that the release has removed or deprecates. */
function plantedFolder(size: number, release: string) {
  const random = new RandomChoices(7)
  const versions = readLifecycle().filter(({ list }) => list !== null)
  const since = (start: string | null) => start !== null && compareReleases(start, release) <= 0
  const sound = ['v1 ConfigMap', 'apps/v1 Deployment', 'v1 Service', 'example.com/v1beta1 Widget', 'batch/v1 Job']
  const contents: Record<string, string> = {}
  const expected: string[] = []
  for (let i = 0; i < size; i++) {
    const file = `team-${i % 9}/app-${i}.yaml`
    const planted = i % 4 === 0 ? random.pick(versions.filter(({ removed }) => removed !== null)) : undefined
    const [apiVersion = '', kind = ''] =
      planted === undefined
        ? (sound[i % sound.length] as string).split(' ')
        : [planted.group === '' ? planted.version : `${planted.group}/${planted.version}`, planted.kind]
    contents[file] = `${manifest(apiVersion, kind, `app-${i}`)}---\n${manifest('v1', 'Secret', `more-${i}`)}`
    if (planted === undefined) continue
    if (since(planted.removed)) expected.push(`${file}:2:13 removed-version ${planted.removed}`)
    else if (since(planted.deprecated)) expected.push(`${file}:2:13 deprecated-version ${planted.removed}`)
  }
  return { path: files(contents), expected }
}

describe('krmkit deprecations', () => {
  it.each(['1.22', '1.25', '1.29', '1.33'])(
    'finds each planted version among a thousand manifests, and nothing else, for %s [P334 P335]',
    async (release) => {
      const { path, expected } = plantedFolder(1000, release)
      const started = performance.now()
      const { out, code } = await run([path, '--release', release, '-o', 'json'])
      const elapsedMs = performance.now() - started
      const { findings, summary } = JSON.parse(out) as { findings: JsonFinding[]; summary: object }
      const found = findings.map(
        ({ file, line, column, rule, removed }) => `${file.slice(path.length + 1)}:${line}:${column} ${rule} ${removed}`,
      )
      expect(found.sort()).toEqual(expected.sort())
      expect(expected.length).toBeGreaterThan(100)
      expect(summary).toMatchObject({ files: 1000, objects: 2000 })
      expect(code).toBe(1)
      // About 0.3 s alone; the limit allows for other work on the machine.
      expect(elapsedMs).toBeLessThan(10_000)
    },
  )

  it('judges inline patches and targets of kustomize, at their lines', async () => {
    const kustomization = `resources: [base.yaml]
patches:
- patch: |-
    # a comment
    apiVersion: batch/v1beta1
    kind: CronJob
    metadata: {name: nightly}
  target:
    group: policy
    version: v1beta1
    kind: PodDisruptionBudget
- path: patch.yaml
- patch: |
    - {op: remove, path: /spec}
  target: {group: batch, version: v1, kind: Job}
patchesStrategicMerge:
- other.yaml
- |
  apiVersion: autoscaling/v2beta1
  kind: HorizontalPodAutoscaler
  metadata: {name: web}
- "apiVersion: extensions/v1beta1\\nkind: Ingress\\nmetadata: {name: a}\\n"
`
    const path = files({ 'kustomization.yaml': kustomization, 'base.yaml': manifest('v1', 'ConfigMap', 'a') })
    const { out, code } = await run([path, '--release', '1.25', '-o', 'json'])
    const { findings, summary } = JSON.parse(out) as { findings: (JsonFinding & { path: string })[]; summary: object }
    expect(findings.map(({ line, column, rule }) => `${line}:${column} ${rule}`)).toEqual([
      '5:17 removed-version',
      '10:14 removed-version',
      '19:15 removed-version',
      '22:3 removed-version',
    ])
    expect([code, summary]).toEqual([1, expect.objectContaining({ files: 2, objects: 6 })])
  })

  it('prints the position, the release and the replacement', async () => {
    const { out, code } = await run(
      ['-'],
      `${manifest('networking.k8s.io/v1beta1', 'Ingress', 'web')}---\n${manifest('v1', 'Pod', 'a')}`,
    )
    expect(out).toBe(
      '-:2:13: error: Ingress web: apiVersion: networking.k8s.io/v1beta1 Ingress was removed in Kubernetes 1.22; use networking.k8s.io/v1 Ingress [removed-version]\n' +
        '2 objects in 1 file: 1 error\n',
    )
    expect(code).toBe(1)
  })

  it('reports deprecated fields with the position of their names', async () => {
    const text = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelector:\n    beta.kubernetes.io/os: linux\n'
    const { out, code } = await run(['-', '-q'], text)
    expect(out).toBe(
      '-:6:5: warning: Pod a: spec.nodeSelector[beta.kubernetes.io/os]: label beta.kubernetes.io/os is deprecated since Kubernetes 1.14; use kubernetes.io/os [deprecated-field]\n',
    )
    expect(code).toBe(0)
    expect((await run(['-', '--fail-on', 'warning'], text)).code).toBe(1)
  })

  it('prints SARIF with the rules that occur', async () => {
    const { out } = await run(['-', '-o', 'sarif'], manifest('batch/v1beta1', 'CronJob', 'a'))
    const { runs } = JSON.parse(out) as { runs: { tool: { driver: { rules: object[] } }; results: object[] }[] }
    expect(runs[0]?.tool.driver.rules).toEqual([
      {
        id: 'removed-version',
        name: 'RemovedVersion',
        shortDescription: { text: 'The release does not serve this version of the kind.' },
      },
    ])
    expect(runs[0]?.results).toMatchObject([
      {
        ruleId: 'removed-version',
        level: 'error',
        locations: [{ physicalLocation: { region: { startLine: 2, startColumn: 13 } } }],
      },
    ])
  })

  it('skips files of kustomize, and reports templates that are not rendered', async () => {
    const path = files({
      'base/kustomization.yaml': 'resources: [a.yaml]\n',
      'base/a.yaml': manifest('v1', 'Pod', 'a'),
      'overlay/patch.yaml': '- op: replace\n  path: /spec/x\n  value: 1\n',
    })
    expect(await run([path])).toMatchObject({ code: 0, out: expect.stringContaining('nothing that Kubernetes 1.33 has removed') })
    const template = files({ 'a.yaml': '{{- if .Values.a }}\napiVersion: v1\n{{ end }}\n' })
    const { out, code } = await run([template])
    expect(out).toContain('a template must be rendered first, for example with helm template [syntax]')
    expect(code).toBe(2)
  })

  it('rejects unreadable paths and invalid releases', async () => {
    expect(await run([join(folder, 'absent')])).toMatchObject({ code: 2, out: expect.stringContaining('[unreadable-file]') })
    expect(await run(['-', '--release', 'soon'])).toMatchObject({ code: 2, err: expect.stringContaining('It must be a release') })
  })

  it('finds the versions that clients of a server write', async () => {
    await using cluster = await createTestServer()
    const { client } = cluster
    const applied = JSON.stringify({ apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata: { name: 'nightly' } })
    const cronJobs = { group: 'batch', version: 'v1', resource: 'cronjobs', kind: 'CronJob', namespaced: true }
    const template = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } } } }
    await client.create(cronJobs, {
      metadata: {
        name: 'nightly',
        namespace: 'default',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied },
      },
      spec: { schedule: '@daily', jobTemplate: template },
    } as never)
    const { findings, objects } = await scanClient(client, { release: '1.25', server: 'https://a' })
    expect(objects).toBeGreaterThan(1)
    const texts = findings.filter(({ object }) => object?.kind === 'CronJob').map(({ path, message }) => `${path}: ${message}`)
    expect(texts).toContain(
      'metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]: last applied as batch/v1beta1 CronJob was removed in Kubernetes 1.25; use batch/v1 CronJob',
    )
    // The version that the scan asks for is not a finding.
    expect(texts).toHaveLength(1)
  })

  it('finds the versions in managedFields, and skips what the user may not list', async () => {
    const metadata = {
      name: 'nightly',
      managedFields: [
        { manager: 'old-controller', apiVersion: 'batch/v1beta1' },
        { manager: 'kubectl', apiVersion: 'batch/v1' },
      ],
    }
    const resource = (name: string, kind: string) => ({ name, kind, namespaced: true, verbs: ['list'] })
    const documents: Readonly<Record<string, object>> = {
      '/apis': { groups: [{ name: 'batch', preferredVersion: { version: 'v1' } }] },
      '/api/v1': { resources: [{ ...resource('bindings', 'Binding'), verbs: ['create'] }, resource('secrets', 'Secret')] },
      '/apis/batch/v1': { resources: [resource('cronjobs', 'CronJob'), resource('cronjobs/status', 'CronJob')] },
    }
    const client: Pick<Client, 'request' | 'listPages'> = {
      request: async ({ path }) => ({ status: 200, json: async () => documents[path] }) as unknown as RawResponse,
      async *listPages({ kind }) {
        if (kind === 'Secret') throw ApiError.forbidden({ group: '', resource: 'secrets' }, '', 'no')
        yield { apiVersion: 'batch/v1', kind: 'CronJobList', metadata: {}, items: [{ metadata }] } as never
      },
    }
    const { findings, objects } = await scanClient(client, { server: 'https://a' })
    expect(objects).toBe(1)
    expect(findings.map(({ file, path, message }) => `${file} ${path}: ${message}`)).toEqual([
      'https://a metadata.managedFields: old-controller writes it as batch/v1beta1 CronJob was removed in Kubernetes 1.25; use batch/v1 CronJob',
    ])
  })
})
