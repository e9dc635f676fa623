import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestServer } from '@krmkit/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from '../testing/run-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'krmkit-api-diff-'))
afterAll(() => rmSync(folder, { recursive: true }))

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
    expect(await run('release:1.24', 'release:1.25')).toMatchObject({ code: 0, out: expect.stringContaining('no rule broken') })
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

  it('rejects files without a surface', async () => {
    const pod = write('pod.yaml', 'apiVersion: v1\nkind: Pod\n')
    expect(await run(pod, next)).toMatchObject({ code: 2, err: expect.stringContaining('neither OpenAPI documents nor') })
  })
})
