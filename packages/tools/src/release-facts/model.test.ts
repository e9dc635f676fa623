import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { modelFolder } from '../release-facts.ts'
import { printTree } from './line-tree.ts'
import { type Model, minorsOf, readModel, viewAt, withRelease } from './model.ts'
import { reportChanges } from './report.ts'

const model = readModel(modelFolder)
const minors = minorsOf(model)

const textsOf = ({ files }: Model) => Object.fromEntries([...files].map(([name, lines]) => [name, printTree(lines)]))

/** Names of the files whose texts differ. */
const differing = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>) =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => one[name] !== other[name])

describe('the model of all releases', () => {
  it('has each release from 1.21', () => {
    expect(minors).toEqual(minors.map((_, i) => 21 + i))
    expect(minors.length).toBeGreaterThanOrEqual(17)
  })

  it('is written as it is read', () => {
    const texts = Object.fromEntries(
      readdirSync(modelFolder).map((name) => [name.replace('.txt', ''), readFileSync(join(modelFolder, name), 'utf8')]),
    )
    expect(differing(textsOf(model), texts)).toEqual([])
  })

  it('comes of the facts of its releases, and the newest one may be added again', () => {
    const again = minors.reduce<Model>((known, minor) => withRelease(known, viewAt(model, minor)), { files: new Map() })
    const twice = withRelease(again, viewAt(model, minors.at(-1)!))
    const texts = textsOf(model)
    expect(differing(textsOf(again), texts)).toEqual([])
    expect(differing(textsOf(twice), texts)).toEqual([])
  })

  it('refuses a release that does not follow', () => {
    expect(() => withRelease(model, viewAt(model, 30))).toThrow('release 1.30 does not follow 1.')
    expect(() => viewAt(model, 20)).toThrow('the model has no release 1.20')
  })
})

describe('the report', () => {
  const report = reportChanges(viewAt(model, 36), viewAt(model, 37))

  it.each([
    '# Release 0.37.2 against 0.36.3',
    '- added `lifecycle/v1alpha1`: `served, off by default`',
    '- removed `scheduling/v1alpha2`',
    '- changed `batch/v1.CronJobSpec.schedule`: `{"k8s:alpha(since: \\"1.36\\")":"+k8s:required"}` → `{"k8s:beta(since: \\"1.37\\")":"+k8s:required"}`',
    '- changed `enable-logs-handler`: `{"type":"BoolVar","deprecated":true}` → `{"type":"BoolVar"}`',
  ])('states %s', (text) => {
    expect(report.split('\n')).toContain(text)
  })

  it('lists the fields of types that stay', () => {
    expect(report).toMatch(/^- added `core\/v1\.PodSpec\./m)
    expect(report).not.toMatch(/^- added `certificates\/v1\.PodCertificateRequestSpec\./m)
  })
})
