import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtInTypes } from '@krmkit/kinds'
import { expect, it } from 'vitest'
import { staleFiles } from './generate-types.ts'
import { root } from './lib/workspace.ts'

it('the generated modules are up to date', () => {
  expect(staleFiles()).toEqual([])
})

it.each([
  ['core-v1', ['ConfigMap', 'Secret', 'Volume', 'PersistentVolumeClaim', 'PersistentVolume']],
  ['storage-v1', ['StorageClass', 'VolumeAttachment', 'CSIDriver', 'CSINode', 'CSIStorageCapacity']],
])('every specified member of the kinds in %s has a description', (module, roots) => {
  const docs = JSON.parse(readFileSync(join(root, `packages/tools/release-facts/docs/${module}.json`), 'utf8')) as Record<
    string,
    Record<string, string>
  >
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
