import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readManifests } from './manifests.ts'
import { nodeHost } from './node-host.ts'

const folder = fileURLToPath(new URL('../testdata/manifests', import.meta.url))

describe('readManifests', () => {
  it('reads folders, multi-document files, lists and objects in order', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' } }
    const manifests = await readManifests([object, folder], nodeHost.manifestFiles)
    expect(manifests.map(({ object: { kind, metadata } }) => `${kind} ${metadata.name}`)).toEqual([
      'ConfigMap mine',
      'ConfigMap settings',
      'Secret secret',
      'Namespace labelled',
      'Pod web',
    ])
    expect(manifests[1]!.object.data).toEqual({ text: 'one\n--- not an end\ntwo\n' })
    expect(manifests[1]!.contentType).toBe('application/yaml')
  })

  it('reads one file', async () => {
    expect(await readManifests(`${folder}/20-second.json`, nodeHost.manifestFiles)).toHaveLength(1)
  })

  it.each([
    ['no kind', { apiVersion: 'v1', metadata: {} }],
    ['no metadata', { apiVersion: 'v1', kind: 'ConfigMap' }],
    ['nothing', null],
  ])('rejects an object with %s', async (_, object) => {
    await expect(readManifests([object as never], nodeHost.manifestFiles)).rejects.toMatchObject({ code: 'InvalidSeed' })
  })

  it.each([
    ['/none', '`seed`: /none cannot be read: ENOENT'],
    ['apiVersion: v1\nkind: ConfigMap\n', '`seed` takes paths and objects, not text of YAML: "apiVersion: v1'],
  ])('names the seed that is not a file: %j', async (seed, message) => {
    await expect(readManifests(seed, nodeHost.manifestFiles)).rejects.toMatchObject({
      code: 'InvalidSeed',
      message: expect.stringContaining(message),
    })
  })

  it('names the position of a syntax error', async () => {
    await expect(readManifests(`${folder}/notes.txt`, nodeHost.manifestFiles)).rejects.toMatchObject({
      code: 'InvalidSeed',
      message: expect.stringContaining('notes.txt'),
    })
  })
})
