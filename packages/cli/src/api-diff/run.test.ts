import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listen } from '@krmkit/http'
import { createTestServer } from '@krmkit/testing'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder()

const run = (...args: readonly string[]) => runCommand(['api-diff', ...args])

const definition = (properties: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {${properties}}}
`

function write(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return path
}

const old = write('old/crd.yaml', definition('size: {type: integer}, name: {type: string}'))
const next = write('new/crd.yaml', definition('size: {type: integer}, color: {type: string}'))

describe('krmkit api-diff', () => {
  it('prints changes that break a rule, and others with --all [P332]', async () => {
    expect(await run(join(old, '..'), next)).toMatchObject({
      out: '- example.com/v1 Widget name: it is removed [rule 1]\n1 kind -> 1 kind, 2 changes: 1 change against the rules\n',
      code: 1,
    })
    expect((await run(old, next, '--all', '-q')).out).toBe(
      '- example.com/v1 Widget name: it is removed [rule 1]\n+ example.com/v1 Widget color: it is added\n',
    )
    expect(await run(old, old)).toMatchObject({ out: '1 kind -> 1 kind, 0 changes: no rule broken\n', code: 0 })
  })

  it('prints JSON and SARIF', async () => {
    const { changes } = JSON.parse((await run(old, next, '-o', 'json')).out) as { changes: object[] }
    expect(changes).toEqual([
      { sort: 'removed', subject: 'example.com/v1 Widget', path: 'name', message: 'it is removed', rule: '1' },
    ])
    const { runs } = JSON.parse((await run(old, next, '-o', 'sarif')).out) as { runs: { results: object[] }[] }
    expect(runs[0]?.results).toMatchObject([
      { ruleId: 'rule-1', level: 'error', message: { text: 'name: example.com/v1 Widget: it is removed' } },
    ])
  })

  it('compares recorded releases', async () => {
    const removed = 'MutatingWebhookConfiguration metadata.clusterName: it is removed [rule 1]'
    expect(await run('release:1.24', 'release:1.25')).toMatchObject({ code: 1, out: expect.stringContaining(removed) })
    expect((await run('release:1.24', 'release:1.25', '--all')).out).toContain('- batch/v1beta1 CronJob: it is removed')
    expect(await run('release:soon', 'release:1.25')).toMatchObject({ code: 2, err: expect.stringContaining('is not a release') })
  })

  it('compares OpenAPI documents of a server, and finds no breach between equal ones', async () => {
    await using cluster = await createTestServer()
    const text = async (path: string) => (await cluster.client.request({ path, headers: { accept: 'application/json' } })).text()
    const v2 = write('openapi-v2.json', await text('/openapi/v2'))
    const v3 = write('v3/apps.json', await text('/openapi/v3/apis/apps/v1'))
    expect(await run(v2, v2)).toMatchObject({ code: 0 })
    const { summary } = JSON.parse((await run(v3, v2, '-o', 'json', '--all')).out) as { summary: { old: number; broken: number } }
    expect(summary.old).toBeGreaterThan(4)
    expect(summary.broken).toBe(0)
  })

  it('checks flags, behavior, gates and metrics from lists, with the dates of a calendar [P332]', async () => {
    const element = (name: string, more: string) => `- {name: ${name}, ${more}}\n`
    const kept = write(
      'elements/old.yaml',
      `kind: ElementList\nelements:\n${[
        element('get --export', 'element: userCommand, stability: stable, deprecated: "1.30"'),
        element('--insecure-port', 'element: adminCommand, stability: stable, deprecated: "1.30"'),
        element('eviction order', 'element: behavior, stability: stable, deprecated: "1.30"'),
        element('Widgets', 'element: graduatedGate, stability: beta, deprecated: "1.30"'),
        element('requests_total', 'element: metric, stability: stable, introduced: "1.29", deprecated: "1.30"'),
      ].join('')}`,
    )
    const none = write('elements/new.yaml', 'kind: ElementList\nelements: []\n')
    const rules = async (...flags: string[]) => {
      const { out } = await run(kept, none, '--old-release', '1.30', '--new-release', '1.31', '-o', 'json', ...flags)
      return (JSON.parse(out) as { changes: { rule: string }[] }).changes.map(({ rule }) => rule)
    }
    expect(await rules()).toEqual(['5a', '5b', '7', '8', '9b', '9a'])
    const late = write(
      'late.yaml',
      '"1.29": 2022-01-01\n"1.30": "2024-01-01"\n"1.31": "2025-06-01"\n'.replace('2022-01-01', '"2022-01-01"'),
    )
    expect(await rules('--calendar', late)).toEqual(['5a', '8', '9b', '9a'])
    const wrong = write('wrong.yaml', '"1.30": soon\n')
    expect(await run(kept, none, '--calendar', wrong)).toMatchObject({
      code: 2,
      err: expect.stringContaining('must have a date'),
    })
  })

  it('reads metrics in the text format', async () => {
    const text = (names: string) =>
      names
        .split(' ')
        .map((name) => `# HELP ${name} [STABLE] Text.\n`)
        .join('')
    const [before, after] = [write('metrics-old.txt', text('a_total b_total')), write('metrics-new.txt', text('a_total'))]
    const { out } = await run(before, after, '--old-release', '1.30', '--new-release', '1.31')
    expect(out).toContain('- b_total: removed in 1.31 without deprecation [rule 9b]')
  })

  it('reads the surface of a server with the credentials of the kubeconfig', async () => {
    await using cluster = await createTestServer()
    await using listener = await cluster.listen((server) => listen(server, { tls: false }))
    const config = {
      'current-context': 'a',
      clusters: [{ name: 'a', cluster: { server: listener.url } }],
      users: [{ name: 'a', user: {} }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    }
    const kubeconfig = write('kubeconfig', JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }))
    const { out, code } = await run(listener.url, `${listener.url}/`, '--kubeconfig', kubeconfig)
    expect(out).toMatch(/^\d+ kinds -> \d+ kinds, 0 changes: no rule broken\n$/)
    expect(code).toBe(0)
    expect(await run(old, 'https://other:6443', '--kubeconfig', kubeconfig)).toMatchObject({
      code: 2,
      err: expect.stringContaining('choose a context for https://other:6443 with --context'),
    })
  })

  it('rejects files without a surface', async () => {
    const pod = write('pod.yaml', 'apiVersion: v1\nkind: Pod\n')
    expect(await run(pod, next)).toMatchObject({ code: 2, err: expect.stringContaining('neither OpenAPI documents nor') })
  })
})
