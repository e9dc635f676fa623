import { describe, expect, it } from 'vitest'
import { Layout } from './layout.ts'

const collections = [
  { prefix: '/core/configmaps/', path: 'configmaps/' },
  { prefix: '/core/services/', path: 'services/specs/' },
  { prefix: '/core/endpoints/', path: 'services/endpoints/' },
  { prefix: '/core/nodes/', path: 'minions/' },
]
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const bytes = (key: string) => new TextEncoder().encode(key)

describe('the layout of keys', () => {
  const layout = new Layout('/registry', collections)

  it.each([
    ['/core/configmaps/shop/web', '/registry/configmaps/shop/web'],
    ['/core/services/shop/web', '/registry/services/specs/shop/web'],
    ['/core/endpoints/shop/web', '/registry/services/endpoints/shop/web'],
    ['/core/nodes/node-1', '/registry/minions/node-1'],
    ['/example.com/widgets/shop/a', '/registry/example.com/widgets/shop/a'],
    ['/a/\u754c\u{1f600}', '/registry/a/\u754c\u{1f600}'],
  ])('places %s at %s, and reads it back', (own, there) => {
    expect(text(layout.toEtcd(own))).toBe(there)
    expect(layout.fromEtcd(bytes(there))).toBe(own)
  })

  it('adds a missing slash to the root, and removes others', () => {
    for (const root of ['registry', '/registry', '/registry/', 'registry/'])
      expect(text(new Layout(root).root)).toBe('/registry/')
    expect(text(new Layout('/').root)).toBe('/')
  })

  it('ignores keys of other programs', () => {
    for (const key of ['/registries/a', '/registry/', 'compact_rev_key', '/registry/a/', '/registry/a\0b']) {
      expect(layout.fromEtcd(bytes(key)), key).toBeUndefined()
    }
    expect(layout.fromEtcd(Uint8Array.of(...bytes('/registry/a'), 0xff))).toBeUndefined()
  })
})
