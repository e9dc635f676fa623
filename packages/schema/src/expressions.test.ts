import { createFeatures } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { expressions, loadExpressions } from './expressions.ts'

const compiles = (text: string, environment: ReturnType<ReturnType<typeof expressions>['fresh']>) =>
  !('problem' in environment.compile(text))

it('the engine is there when somebody has waited for it', async () => {
  expect(() => expressions()).toThrow('expressions are not loaded')
  await loadExpressions()
  expect(loadExpressions()).toBeUndefined()
  expect(compiles('1 + 1 == 2', expressions().stored)).toBe(true)
})

it('new expressions use what the release before knows, stored ones everything', async () => {
  await loadExpressions()
  const { stored, fresh } = expressions()
  const present = fresh(createFeatures('1.33'))
  expect(fresh(createFeatures('1.33'))).toBe(present)
  expect(compiles('[1].all(i, x, x > i)', present)).toBe(true)
  expect(compiles("isSemver('1.0.0')", present)).toBe(false)
  expect(compiles("isSemver('1.0.0')", stored)).toBe(true)
  const older = fresh(createFeatures('1.30'))
  expect(compiles('sets.contains([1], [1])', older)).toBe(true)
  expect(compiles("isIP('::')", older)).toBe(false)
})
