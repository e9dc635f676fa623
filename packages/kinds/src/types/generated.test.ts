import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { builtInTypes } from '../catalog/catalog.ts'

it('the generated modules are up to date', () => {
  const script = fileURLToPath(new URL('../../../../scripts/run.mjs', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'generate-types', '--check'], { encoding: 'utf8' })
  expect([status, stdout.trim(), stderr]).toEqual([0, 'types are up to date', ''])
})

it.each([
  ['core-v1', ['ConfigMap', 'Secret', 'Volume', 'PersistentVolumeClaim', 'PersistentVolume']],
  ['storage-v1', ['StorageClass', 'VolumeAttachment', 'CSIDriver', 'CSINode', 'CSIStorageCapacity']],
])('every specified member of the kinds in %s has a description', (module, roots) => {
  const docs = JSON.parse(
    readFileSync(new URL(`../../../tools/docs/${module}.json`, import.meta.url), 'utf8'),
  ) as Record<string, Record<string, string>>
  const types = builtInTypes()
  const prefix = `${module.replace('-', '/')}.`
  const missing: string[] = []
  const seen = new Set(roots)
  for (const name of seen) {
    for (const { json, type } of types.struct(prefix + name).fields) {
      if (!['apiVersion', 'kind', 'metadata'].includes(json) && docs[name]?.[json] === undefined) missing.push(`${name}.${json}`)
      let node = type
      while (node.kind === 'list' || node.kind === 'map') node = node.of
      if (node.kind === 'struct' && node.name.startsWith(prefix)) seen.add(node.name.slice(prefix.length))
    }
  }
  expect(missing).toEqual([])
})
