import * as ip from '@krmkit/base/ip'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../testdata/names.json' with { type: 'json' }
import * as formats from './name-formats.ts'
import { nameRules } from './name-rule.ts'

type Check = (text: string) => string[]
const checks: Record<string, unknown> = { ...formats, ...ip }

describe('name formats', () => {
  for (const [rule, cases] of Object.entries(vectors)) {
    it(rule, () => {
      for (const { text, errors } of cases) expect({ text, errors: (checks[rule] as Check)(text) }).toEqual({ text, errors })
    })
  }

  it('validates long text quickly', () => {
    const long = [`${'a'.repeat(200_000)}!`, `${'a.'.repeat(100_000)}!`, `${'-'.repeat(200_000)}`, `${'a-'.repeat(100_000)}/`]
    for (const rule of Object.keys(vectors)) for (const text of long) expect((checks[rule] as Check)(text).length).toBeLessThan(5)
  })

  it('returns lists that callers may modify', () => {
    formats.validateDns1123Label('a').push('x')
    expect(formats.validateDns1123Label('a')).toEqual([])
  })
})

describe('name rules', () => {
  it('allows a trailing dash in generateName, because a suffix follows [P10]', () => {
    for (const rule of [nameRules.dns1123Label, nameRules.dns1123Subdomain, nameRules.dns1035Label]) {
      expect(rule('ab-', true)).toEqual([])
      expect(rule('ab-', false)).toHaveLength(1)
      expect(rule('-', true)).toHaveLength(1)
      expect(rule('A', true)).toHaveLength(1)
    }
  })

  it('allows dots as path segment prefix', () => {
    expect(nameRules.pathSegment('.', true)).toEqual([])
    expect(nameRules.pathSegment('.', false)).toEqual(["may not be '.'"])
    expect(nameRules.pathSegment('a/', true)).toEqual(["may not contain '/'"])
    expect(nameRules.any('/', false)).toEqual([])
  })

  it('accepts every label as subdomain, path segment and label value', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/), (label) => {
        expect(nameRules.dns1123Label(label, false)).toEqual([])
        expect(nameRules.dns1123Subdomain(`${label}.${label}`.slice(0, 253), false)).toHaveLength(0)
        expect(nameRules.pathSegment(label, false)).toEqual([])
        expect(formats.validateLabelValue(label)).toEqual([])
        expect(formats.validateQualifiedNameFormat(`${label}/${label}`)).toEqual([])
      }),
    )
  })
})
