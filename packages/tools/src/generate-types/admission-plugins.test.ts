import { join } from 'node:path'
import { builtInPlugins, createAdmissionPlugins } from '@krmkit/admission'
import { createFeatures, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { root } from '../lib/workspace.ts'
import { minorsOf, readModel, viewAt } from '../release-facts/model.ts'

/** The admission plugins of emulated releases against those that the releases register. */

const model = readModel(join(root, 'packages/tools/release-facts/model'))

/** Plugins that this project does not have. */
const missing = new Set(['SecurityContextDeny', 'EventRateLimit', 'PersistentVolumeLabel'])

/** Names in the order of later releases: 1.22 runs PodSecurityPolicy before PodSecurity, whose refusals come in another order. */
function inLaterOrder(names: readonly string[]): string[] {
  const order = builtInPlugins.map(({ name }) => name)
  return [...names].sort((a, b) => order.indexOf(a) - order.indexOf(b))
}

const isBuiltIn = (name: string) => !missing.has(name)

describe('the admission plugins of an emulated release', () => {
  it.each(minorsOf(model))('1.%i: are known, and enabled by default, as in its registration', (minor) => {
    const features = createFeatures(`1.${minor}`)
    const { atLeast } = features.release
    const known = builtInPlugins
      .filter(({ since = '1.0' }) => atLeast(since))
      .filter(({ removed }) => removed === undefined || !atLeast(removed))
    const running = createAdmissionPlugins({ random: seededRandom(1), features }).map(({ name }) => name)
    const { admissionPlugins, admissionPluginsOn } = viewAt(model, minor).release
    const registered = admissionPlugins.filter(isBuiltIn)
    const expected = minor === 22 ? inLaterOrder(registered) : registered
    expect(known.map(({ name }) => name)).toEqual(expected)
    expect(running).toEqual(expected.filter((name) => admissionPluginsOn.includes(name)))
  })
})
