import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../lib/workspace.ts'
import { modelFolder } from '../release-facts.ts'
import { readGroups, readRelease } from './extract.ts'
import type { GroupFile } from './facts.ts'
import { type LifecycleRow, lifecyclesAt } from './lifecycle.ts'
import { readModel, viewAt } from './model.ts'

/** The facts that the extractor wrote for releases, outside the project. */
const shared = join(root, '../shared')
const folders = {
  33: join(shared, 'model'),
  ...Object.fromEntries([34, 35, 36, 37].map((n) => [n, join(shared, `releases/1.${n}`)])),
}
const known = Object.entries(folders).filter(([, folder]) => existsSync(folder))

const model = readModel(modelFolder)
const first = JSON.parse(readFileSync(join(modelFolder, '../lifecycle-1.33.json'), 'utf8')) as LifecycleRow[]

/** The names of tables in order, which comparing objects does not see. */
function orderOf({ versions }: GroupFile): unknown {
  return Object.entries(versions).map(([version, { kinds, resources, types, named = {}, enums, constants = {} }]) => [
    version,
    ...[kinds, resources, types, named, enums, constants].map((table) => Object.keys(table)),
  ])
}

/** The extractor outside the project does not write the markers of string types. */
function withoutStringRules({ group, versions }: GroupFile): GroupFile {
  const plain = Object.entries(versions).map(([version, { stringRules: _, ...facts }]) => [version, facts])
  return { group, versions: Object.fromEntries(plain) }
}

describe.skipIf(known.length === 0)('the facts in the shared folder (needs its folders model and releases)', () => {
  it.each(known)('1.%s: the model gives them back', (minor, folder) => {
    const view = viewAt(model, Number(minor))
    const hasRelease = existsSync(join(folder, 'release.json'))
    const facts = hasRelease ? readRelease(folder) : { groups: readGroups(folder), release: view.release }
    expect([...view.groups.keys()]).toEqual([...facts.groups.keys()])
    for (const [name, group] of facts.groups) {
      expect(withoutStringRules(view.groups.get(name)!), name).toEqual(withoutStringRules(group))
      expect(orderOf(view.groups.get(name)!), name).toEqual(orderOf(group))
    }
    expect(JSON.stringify(view.release)).toBe(JSON.stringify(facts.release))
    const lifecycles = JSON.parse(readFileSync(join(folder, 'lifecycle.json'), 'utf8')) as LifecycleRow[]
    expect(lifecyclesAt(model, first, Number(minor))).toEqual(lifecycles)
  })
})
