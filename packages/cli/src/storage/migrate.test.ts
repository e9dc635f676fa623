import { createRemoteClient, loadKubeconfig, resourceType } from '@krmkit/client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RunningServer, serve } from '../serve.ts'
import { runCommand, serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder({ perTest: true })
let server: RunningServer
beforeEach(async () => {
  server = await serve(await serveOptions(`${folder}/data`, []), { info: () => undefined, error: () => undefined })
})
afterEach(async () => {
  await server.close()
})

const definitions = resourceType({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})
const widgets = resourceType({ group: 'shop.example.com', version: 'v1', resource: 'widgets', kind: 'Widget' })

function definition(stored: string) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.shop.example.com' },
    spec: {
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === stored, schema })),
    },
  }
}

it('migrates objects and drops versions that are no longer stored', async () => {
  const { kubeconfig = '' } = server
  const client = createRemoteClient(await loadKubeconfig({ path: kubeconfig }))
  try {
    await client.apply(definitions, definition('v1'), { fieldManager: 'test' })
    await expect
      .poll(() =>
        client.create(widgets, { metadata: { name: 'a' } }).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    await client.apply(definitions, definition('v2'), { fieldManager: 'test' })
    const stored = async () =>
      (await client.get(definitions, 'widgets.shop.example.com')) as { status?: { storedVersions: string[] } }
    expect((await stored()).status?.storedVersions).toEqual(['v1', 'v2'])
    const { code, out } = await runCommand(['storage', 'migrate', 'widgets.shop.example.com', '--kubeconfig', kubeconfig])
    expect([code, out]).toEqual([0, 'widgets.shop.example.com: 1 object; no longer stored: v1\n'])
    expect((await stored()).status?.storedVersions).toEqual(['v2'])
    const all = await runCommand(['storage', 'migrate', '--kubeconfig', kubeconfig])
    expect([all.code, all.out]).toEqual([0, expect.stringMatching(/^namespaces: 4 objects$/m)])
    const unknown = await runCommand(['storage', 'migrate', 'gadgets', '--kubeconfig', kubeconfig])
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('the server has no stored resource "gadgets"')])
  } finally {
    await client.close()
  }
})
