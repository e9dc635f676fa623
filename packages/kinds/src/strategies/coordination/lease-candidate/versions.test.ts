import { expect, it } from 'vitest'
import { compareVersions, type SemanticVersion, versionOf } from './versions.ts'

it('orders semantic versions with their pre-releases', () => {
  const ordered = [
    '1.0.0-1',
    '1.0.0-2',
    '1.0.0-10',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-beta',
    '1.0.0',
    '1.0.1',
    '1.2.0',
    '1.10.0',
  ]
  const versions = ordered.map(versionOf) as SemanticVersion[]
  for (const [i, one] of versions.entries())
    for (const [j, other] of versions.entries()) expect(Math.sign(compareVersions(one, other))).toBe(Math.sign(i - j))
  expect(compareVersions(versionOf('1.0.0+a') as SemanticVersion, versionOf('1.0.0+b') as SemanticVersion)).toBe(0)
})

it('knows other texts', () => {
  for (const text of [
    '',
    '1',
    '1.2',
    '01.2.3',
    '1.2.3-01',
    '1.2.3-',
    '1.2.3+',
    'v1.2.3',
    '1.2.18446744073709551616',
    '1.2.3-18446744073709551616',
  ])
    expect(versionOf(text), text).toBeUndefined()
  expect(versionOf('1.2.18446744073709551615')?.numbers[2]).toBe(18446744073709551615n)
})
