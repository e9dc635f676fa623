import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { breakages } from './breakages.ts'
import { causesOf, definitionsPath, type Harness, startHarness } from './harness.ts'
import { findDefinitions, packagedFolder } from './whole-definitions.ts'

/** A complete definition, broken in every way, is rejected with the causes of kube-apiserver: `breakages.json`, recorded with 1.33. */

const folder = packagedFolder('crdtoapi', 'examples')
const host = findDefinitions(folder === undefined ? [] : [folder]).definitions.find(({ kind }) => kind === 'Host')
const recorded = JSON.parse(readFileSync(new URL('./breakages.json', import.meta.url), 'utf8')) as Record<string, string[]>

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

it('every breakage has a recording, and the package exists', () => {
  expect(breakages.map(([name]) => name).sort()).toEqual(Object.keys(recorded).sort())
  expect(host).toBeDefined()
})

describe('refused', () => {
  it.each(breakages)('%s', async (name, breakIt) => {
    const manifest = structuredClone(host?.manifest ?? {})
    delete manifest.status
    breakIt(manifest)
    const answer = await harness.send('POST', definitionsPath, manifest)
    expect(answer.status).toBe(422)
    expect(causesOf(answer)).toEqual(recorded[name])
  })

  it.each(breakages)('as an update: %s', async (name, breakIt) => {
    const good = structuredClone(host?.manifest ?? {})
    delete good.status
    const path = `${definitionsPath}/${host?.name}`
    const known = await harness.send('GET', path)
    if (known.status === 404) await harness.send('POST', definitionsPath, good)
    const stored = (await harness.until(path, ({ status }) => status === 200)).body
    const changed = structuredClone(stored)
    breakIt(changed)
    if (changed.metadata.name !== stored.metadata.name) return
    const answer = await harness.send('PUT', path, changed)
    expect(answer.status).toBe(422)
    // Updates add causes: immutable members and stored versions.
    const own = (recorded[name] ?? []).filter((cause) => !cause.startsWith('status.') && !cause.startsWith('metadata.'))
    expect(causesOf(answer)).toEqual(expect.arrayContaining(own))
  })
})
