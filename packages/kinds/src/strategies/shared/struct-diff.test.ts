import { createTurns, runAtOnce, startWork } from '@krmkit/base/work'
import { createFeatures } from '@krmkit/meta'
import { describe, expect, it, vi } from 'vitest'
import { loadStructDiff, structDiff } from './struct-diff.ts'

const features = createFeatures('1.33')
const containers = (count: number, value: string) =>
  Array.from({ length: count }, (_, i) => ({ name: `c${i}`, image: 'i', env: [{ name: `E${i}`, value }] }))
const change = { before: { containers: containers(1, 'a') }, after: { containers: containers(1, 'b') } }

describe('differences of structs', () => {
  it('are absent from work that runs at once before they are loaded', async () => {
    vi.resetModules()
    const fresh = await import('./struct-diff.ts')
    expect(runAtOnce(fresh.structDiff('core.PodSpec', change, features))).toBe('')
  })

  it('load within work that can wait', async () => {
    expect(await startWork(structDiff('core.PodSpec', change, features), createTurns())).toContain(
      '- \t\t\t\t\tValue:     "a",\n',
    )
    expect(loadStructDiff()).toBeUndefined()
  })

  it('are JSON from 1.34', async () => {
    await loadStructDiff()
    const text = runAtOnce(structDiff('core.PodSpec', change, createFeatures('1.34')))
    expect(text).toContain('-     "Value": "a",\n+     "Value": "b",\n')
    expect(text.startsWith('@@ -')).toBe(true)
  })

  it('have the fields of their release', async () => {
    await loadStructDiff()
    const named = { before: {}, after: { hostname: 'a' } }
    const [older, newer] = ['1.34', '1.37'].map((release) =>
      runAtOnce(structDiff('core.PodSpec', named, createFeatures(release))),
    )
    expect(older).toContain('"Hostname": "a"')
    expect(older).not.toBe(newer)
  })

  it.each(['1.33', '1.37'])('are cut in %s where they are long', async (release) => {
    await loadStructDiff()
    const long = {
      before: { containers: containers(3, 'a\n'.repeat(30_000)) },
      after: { containers: containers(3, 'b'.repeat(60_000)) },
    }
    expect(runAtOnce(structDiff('core.PodSpec', long, createFeatures(release))).length).toBeLessThan(70_000)
  })

  it('are absent where the comparison costs too much', async () => {
    await loadStructDiff()
    const large = { before: { containers: containers(20_000, 'a') }, after: { containers: containers(20_000, 'b') } }
    expect(runAtOnce(structDiff('core.PodSpec', large, features))).toBe('')
  })
})
