import { join } from 'node:path'
import { type BootstrapPolicy, bootstrapPolicy } from '@krmkit/authorization/bootstrap'
import { createFeatures } from '@krmkit/meta'
import { builtInFeatureGates } from '@krmkit/meta/feature-gates'
import { describe, expect, it } from 'vitest'
import { root } from '../lib/workspace.ts'
import type { Line } from '../release-facts/line-tree.ts'
import { minorsOf, readModel, viewAt } from '../release-facts/model.ts'
import { linesOfRoles } from '../release-facts/role-lines.ts'

/** The default roles and bindings of emulated releases against the files of these releases. */

const model = readModel(join(root, 'packages/tools/release-facts/model'))
const withGates = 'cluster-roles-featuregates'

/** Lines of a file, the objects sorted by name; rules and subjects keep their order. */
function sorted(files: readonly Line[]): Line[] {
  return files.map(({ text, lines }) => ({ text, lines: [...lines].sort((a, b) => (a.text < b.text ? -1 : 1)) }))
}

function filesOf({ clusterRoles, clusterRoleBindings, roles, roleBindings }: BootstrapPolicy): Map<string, unknown> {
  const isOfController = ({ metadata: { name = '' } }: { metadata: { name?: string } }) => name.startsWith('system:controller:')
  const isGeneral = (object: { metadata: { name?: string } }) => !isOfController(object)
  return new Map(
    Object.entries({
      'cluster-role-bindings': clusterRoleBindings.filter(isGeneral),
      'cluster-roles': clusterRoles.filter(isGeneral),
      'controller-role-bindings': clusterRoleBindings.filter(isOfController),
      'controller-roles': clusterRoles.filter(isOfController),
      'namespace-role-bindings': roleBindings,
      'namespace-roles': roles,
    }).map(([name, items]) => [name, { items: items.map(withSortedMembers) }]),
  )
}

/** Members of rules and labels in the order of the files. */
function withSortedMembers<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withSortedMembers) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, each]) => [name, withSortedMembers(each)])) as T
}

/** Features with all alpha and beta gates of a release on. */
function allFeatures(release: string) {
  const { release: at } = createFeatures(release)
  const current = builtInFeatureGates().map(({ name, stages }) => ({
    name,
    stage: stages.findLast(({ since }) => at.atLeast(since))?.stage,
  }))
  return createFeatures(
    release,
    Object.fromEntries(current.filter(({ stage }) => stage === 'alpha' || stage === 'beta').map(({ name }) => [name, true])),
  )
}

const minors = minorsOf(model)

describe('the default roles of an emulated release', () => {
  it.each(minors)('1.%i: are those of its files', (minor) => {
    const policy = bootstrapPolicy(undefined, { features: createFeatures(`1.${minor}`) })
    const expected = viewAt(model, minor).roles.filter(({ text }) => text !== withGates)
    expect(expected.length).toBe(6)
    expect(sorted(linesOfRoles(filesOf(policy)))).toEqual(sorted(expected))
  })

  it.each(minors.filter((minor) => minor >= 33))('1.%i: are those of its files with all feature gates', (minor) => {
    const policy = bootstrapPolicy(undefined, { features: allFeatures(`1.${minor}`) })
    const expected = viewAt(model, minor).roles.filter(({ text }) => text === withGates)
    const found = linesOfRoles(filesOf(policy)).filter(({ text }) => text === 'cluster-roles')
    expect(expected).toHaveLength(1)
    expect(sorted(found.map(({ lines }) => ({ text: withGates, lines })))).toEqual(sorted(expected))
  })
})
