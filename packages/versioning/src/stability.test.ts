import { describe, expect, it } from 'vitest'
import { compareStability, stabilityOf } from './stability.ts'

describe('stabilityOf', () => {
  it.each([
    ['v1', 'stable'],
    ['v12', 'stable'],
    ['v1beta1', 'beta'],
    ['v2beta13', 'beta'],
    ['v1alpha1', 'alpha'],
  ])('P328 %s is %s', (version, stability) => {
    expect(stabilityOf(version)).toBe(stability)
  })

  it.each(['', 'v', 'v0', 'v01', '1', 'V1', 'v1beta', 'v1gamma1', 'v1beta1alpha1', 'v1beta0', 'latest', 'v1 '])(
    'rejects %j [P328]',
    (version) => {
      expect(stabilityOf(version)).toBeUndefined()
    },
  )

  it('orders alpha, beta, stable [P328]', () => {
    expect((['stable', 'alpha', 'beta'] as const).toSorted(compareStability)).toEqual(['alpha', 'beta', 'stable'])
  })
})
