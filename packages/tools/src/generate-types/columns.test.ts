import { join } from 'node:path'
import { createCatalog, printerOf } from '@krmkit/kinds'
import { groupPriority } from '@krmkit/kinds/groups'
import { emulateRelease, typesAt } from '@krmkit/kinds/releases'
import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { root } from '../lib/workspace.ts'
import { minorsOf, readModel, viewAt } from '../release-facts/model.ts'

/** Tables and the order of groups of emulated releases against the sources of these releases. */

const model = readModel(join(root, 'packages/tools/release-facts/model'))
const minors = minorsOf(model)

/**
 * Kinds whose columns are not one list in the sources: those of CSIDriver depend on gates, CSIStorageCapacity is shown by the default printer.
 */
const apart = new Set(['storage.CSIDriver', 'storage.CSIStorageCapacity'])

describe.each(minors)('1.%i', (minor) => {
  const { groups, release } = viewAt(model, minor)

  it('shows the columns of the release', async () => {
    const features = createFeatures(`1.${minor}`)
    const emulated = emulateRelease(features)
    const catalog = createCatalog({ features, types: typesAt(`1.${minor}`), emulated, runtimeConfig: 'api/all=true' })
    const folders = new Map([...groups].map(([folder, { group }]) => [group, folder]))
    let compared = 0
    for (const definition of catalog.definitions) {
      const kind = `${folders.get(definition.storage.group)}.${definition.kind.kind}`
      const columns = release.columns[kind]
      if (columns === undefined || apart.has(kind)) continue
      const printer = await printerOf(definition)
      const own = printer.columns.map(({ name, type, format = '', priority = 0 }) => [name, type, format, `${priority}`])
      expect(own, `${kind} of ${definition.version}`).toEqual(columns)
      compared++
    }
    expect(compared).toBeGreaterThan(40)
  })

  it('lists groups in the order of the release', () => {
    const wrong = Object.entries(release.priorities).filter(
      ([at, [group]]) => groupPriority(at.slice(0, at.indexOf('/'))) !== group,
    )
    // Alpha versions that are not emulated, but for v1alpha3 in 1.31, which is off by default.
    const known = /^resource\.k8s\.io\/v1alpha[123]$/
    expect(wrong.filter(([at]) => !(known.test(at) && minor < 32))).toEqual([])
  })
})
