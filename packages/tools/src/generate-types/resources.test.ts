import { join } from 'node:path'
import { resourcesAt, storageVersionAt } from '@krmkit/kinds/releases'
import { describe, expect, it } from 'vitest'
import { root } from '../lib/workspace.ts'
import { minorsOf, type ReleaseView, readModel, viewAt } from '../release-facts/model.ts'

/** The resources of emulated releases against the discovery documents of these releases. */

const model = readModel(join(root, 'packages/tools/release-facts/model'))

/** Alpha resources that no later version has: they are not emulated. */
const abandoned = [
  /^resource\.k8s\.io\/(v1alpha1|v1alpha2)\//,
  /^resource\.k8s\.io\/v1alpha3\/podschedulingcontexts/,
  /^networking\.k8s\.io\/v1alpha1\/clustercidrs/,
  /^coordination\.k8s\.io\/v1alpha1\/leasecandidates/,
]

/** Subresources of alpha features, which the documents have since all gates are on, and one that was removed. */
const gated = [/^\/v1\/pods\/(ephemeralcontainers|resize)$/, /^networking\.k8s\.io\/v1\/networkpolicies\/status$/]

/** Verbs and default by `group/version/name`; subresources by name alone. */
function documented({ groups, release }: ReleaseView): Map<string, string> {
  const enabled = new Set(release.enabledResources)
  const found = [...groups].flatMap(([folder, { group, versions }]) =>
    Object.entries(versions).flatMap(([version, { resources, enabledByDefault }]) =>
      Object.entries(resources)
        .filter(([, { from }]) => from !== 'client')
        .map(([name, { kind, namespaced, verbs = [] }]) => {
          const isOn = enabledByDefault === true || enabled.has(`${folder}/${version}/${name}`)
          const text = name.includes('/') ? '' : [kind, namespaced, isOn, ...verbs].join(' ')
          return [`${group}/${version}/${name}`, text] as const
        }),
    ),
  )
  return new Map(found.filter(([key]) => !abandoned.some((each) => each.test(key))))
}

function emulated(release: string): Map<string, string> {
  return new Map(
    resourcesAt(release).flatMap(({ group, version, resource, kind, namespaced, enabledByDefault, verbs, subresources }) => [
      [`${group}/${version}/${resource}`, [kind, namespaced, enabledByDefault, ...[...verbs].sort()].join(' ')] as const,
      ...subresources.map((name) => [`${group}/${version}/${name}`, ''] as const),
    ]),
  )
}

const lines = (resources: ReadonlyMap<string, string>) =>
  [...resources]
    .filter(([key]) => !gated.some((each) => each.test(key)))
    .map(([key, text]) => `${key} ${text}`)
    .sort()

const minors = minorsOf(model)

describe('the resources of an emulated release', () => {
  it.each(minors)('1.%i: are those of its discovery documents', (minor) => {
    expect(lines(emulated(`1.${minor}`))).toEqual(lines(documented(viewAt(model, minor))))
  })

  it.each(minors.filter((minor) => minor >= 28))('1.%i: are stored in the version that its documents announce', (minor) => {
    const { storageVersions } = viewAt(model, minor).release
    const onByDefault = resourcesAt(`1.${minor}`).filter(({ enabledByDefault }) => enabledByDefault)
    const wrong = onByDefault.filter(({ group, resource }) => {
      const stored = storageVersionAt(`1.${minor}`, { group, resource })!
      const announced = storageVersions[`${group}/${resource}`]
      return announced !== undefined && announced !== (stored.group === '' ? stored.version : `${stored.group}/${stored.version}`)
    })
    // kube-apiserver announces the version of an earlier encoding.
    expect(wrong.map(({ resource }) => resource)).toEqual(['customresourcedefinitions'])
  })
})
