import { describe, expect, it, vi } from 'vitest'
import { isLargeValue, rememberKey } from './large-maps.ts'

const keys = Array.from({ length: 3000 }, (_, i) => `k${i}`)
const wide = () => Object.fromEntries(keys.map((key) => [key, 'v']))

describe('isLargeValue', () => {
  it('counts members and elements at any depth', () => {
    expect(isLargeValue({ labels: { app: 'web' }, containers: [{ name: 'a' }] })).toBe(false)
    expect(isLargeValue({ metadata: { labels: wide() } })).toBe(true)
    expect(isLargeValue({ args: keys })).toBe(true)
    expect(isLargeValue(keys.map(() => ({})).slice(0, 1500))).toBe(false)
    expect(isLargeValue(keys.map(() => ({ a: 1 })).slice(0, 1500))).toBe(true)
    expect(isLargeValue('x'.repeat(100_000))).toBe(false)
  })

  it('does not enumerate a large map whose keys are cached', () => {
    const enumerated = vi.fn()
    const map = new Proxy(wide(), { ownKeys: enumerated })
    rememberKey(map, keys)
    expect(isLargeValue({ map })).toBe(true)
    expect(enumerated).not.toHaveBeenCalled()
  })
})
