import { createFeatures } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { cel, loadCel } from './load-cel.ts'

const compiles = (text: string, environment: ReturnType<ReturnType<typeof cel>['newExpressions']>) =>
  !('problem' in environment.compile(text))

it('provides the engine only after loading', async () => {
  expect(() => cel()).toThrow('the CEL engine is not loaded')
  await loadCel()
  expect(loadCel()).toBeUndefined()
  expect(compiles('1 + 1 == 2', cel().storedExpressions)).toBe(true)
})

it('restricts new expressions to the previous release, and does not restrict stored expressions', async () => {
  await loadCel()
  const { storedExpressions: stored, newExpressions: fresh } = cel()
  const present = fresh(createFeatures('1.33'))
  expect(fresh(createFeatures('1.33'))).toBe(present)
  expect(compiles('[1].all(i, x, x > i)', present)).toBe(true)
  expect(compiles("isSemver('1.0.0')", present)).toBe(false)
  expect(compiles("isSemver('1.0.0')", stored)).toBe(true)
  const older = fresh(createFeatures('1.30'))
  expect(compiles('sets.contains([1], [1])', older)).toBe(true)
  expect(compiles("isIP('::')", older)).toBe(false)
})
