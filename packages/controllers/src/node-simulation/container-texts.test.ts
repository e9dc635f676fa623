import { describe, expect, it } from 'vitest'
import { imageID } from './container-texts.ts'

describe('the id of an image', () => {
  it.each([
    ['nginx', 'nginx'],
    ['nginx:1.27', 'nginx'],
    ['nginx:1.27@sha256:ab', 'nginx'],
    ['localhost:5000/team/web', 'localhost:5000/team/web'],
    ['localhost:5000/team/web:2', 'localhost:5000/team/web'],
    ['web@sha256:ab', 'web'],
    [':', ''],
  ])('of %j begins with %j', (image, repository) => {
    expect(imageID(image).replace(/@sha256:[0-9a-f]{64}$/, '')).toBe(repository)
  })

  it('takes time in proportion to the image', () => {
    const timeOf = (count: number): number => {
      const image = `x${':'.repeat(count)}/x`
      const from = performance.now()
      for (let i = 0; i < 5; i++) imageID(image)
      return performance.now() - from
    }
    timeOf(10_000)
    // A quadratic search takes 256 times as long.
    expect(timeOf(160_000)).toBeLessThan(100 * (timeOf(10_000) + 1))
  })
})
