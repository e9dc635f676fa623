/** Tests of small modules: naming profile, features, apiVersion, int-or-string. */

import { describe, expect, it } from 'vitest'
import { formatApiVersion, formatGroupKind, formatGroupResource, formatGroupVersionKind, parseApiVersion } from './api-version.ts'
import { createFeatures } from './features.ts'
import { goIntOrString, intValue, parseIntOrString, parsePercent, scaledValue } from './int-or-string.ts'
import { isJsonObject } from './json.ts'
import { MetaError } from './meta-error.ts'
import { createNamingProfile, stockProfile } from './naming-profile.ts'

describe('naming profile', () => {
  it('has the names of kube-apiserver by default', () => {
    expect(stockProfile).toEqual({
      apiDomain: 'k8s.io',
      vendor: 'kubernetes',
      domain: 'kubernetes.io',
      systemNamespace: 'kube-system',
      publicNamespace: 'kube-public',
      nodeLeaseNamespace: 'kube-node-lease',
    })
    expect(Object.isFrozen(stockProfile)).toBe(true)
  })

  it('replaces some names and keeps the others', () => {
    const profile = createNamingProfile({
      apiDomain: 'api.example',
      vendor: 'acme',
      domain: 'acme.example',
      systemNamespace: 'acme-system',
    })
    expect(profile).toEqual({
      ...stockProfile,
      apiDomain: 'api.example',
      vendor: 'acme',
      domain: 'acme.example',
      systemNamespace: 'acme-system',
    })
    expect(stockProfile.vendor).toBe('kubernetes')
  })
})

describe('features', () => {
  it('compares releases numerically', () => {
    const { release } = createFeatures('1.33')
    expect(['1.9', '1.33', '1.33.5', 'v1.32', '0.99'].map(release.atLeast)).toEqual([true, true, true, true, true])
    expect(['1.34', '1.100', '2.0'].map(release.atLeast)).toEqual([false, false, false])
    expect(release.version).toBe('1.33')
    expect(() => release.atLeast('new')).toThrow(RangeError)
    expect(() => createFeatures('1')).toThrow(RangeError)
  })

  it('enables the configured gates only', () => {
    const features = createFeatures('1.25', { A: true, B: false })
    const names = ['A', 'B', 'C', 'constructor', '__proto__']
    expect(names.map((gate) => features.enabled(gate))).toEqual([true, false, false, false, false])
    expect(names.map((gate) => features.enabled(gate, true))).toEqual([true, false, true, true, true])
  })
})

describe('apiVersion', () => {
  it('parses and formats', () => {
    expect(parseApiVersion('v1')).toEqual({ group: '', version: 'v1' })
    expect(parseApiVersion('apps/v1')).toEqual({ group: 'apps', version: 'v1' })
    expect([parseApiVersion(''), parseApiVersion('/')]).toEqual([
      { group: '', version: '' },
      { group: '', version: '' },
    ])
    expect(parseApiVersion('apps/')).toEqual({ group: 'apps', version: '' })
    expect(() => parseApiVersion('a/b/c')).toThrow(
      new MetaError({ code: 'InvalidApiVersion', message: 'unexpected GroupVersion string: a/b/c', text: 'a/b/c' }),
    )
    expect([formatApiVersion({ group: '', version: 'v1' }), formatApiVersion({ group: 'apps', version: 'v1' })]).toEqual([
      'v1',
      'apps/v1',
    ])
  })

  it('formats kinds and resources', () => {
    expect(formatGroupResource({ group: '', resource: 'pods' })).toBe('pods')
    expect(formatGroupResource({ group: 'apps', resource: 'deployments' })).toBe('deployments.apps')
    expect(formatGroupKind({ group: 'apps', kind: 'Deployment' })).toBe('Deployment.apps')
    expect(formatGroupVersionKind({ group: '', version: 'v1', kind: 'Pod' })).toBe('/v1, Kind=Pod')
    expect(formatGroupVersionKind({ group: 'apps', version: 'v1', kind: 'Deployment' })).toBe('apps/v1, Kind=Deployment')
  })
})

describe('int or string', () => {
  it('parses digits as a 32-bit integer', () => {
    expect(['5', '-5', '5%', 'http', '', '2147483648', '1.5'].map(parseIntOrString)).toEqual([
      5,
      -5,
      '5%',
      'http',
      '',
      '2147483648',
      '1.5',
    ])
    expect([7, '7', 'x'].map(intValue)).toEqual([7, 7, 0])
  })

  it('computes a percentage of a total', () => {
    expect(scaledValue(3, 10, { roundUp: true })).toBe(3)
    expect(scaledValue('25%', 10, { roundUp: true })).toBe(3)
    expect(scaledValue('25%', 10, { roundUp: false })).toBe(2)
    expect(parsePercent(3)).toBeUndefined()
    expect(() => parsePercent('x')).toThrow('invalid value for IntOrString: invalid type: string is not a percentage')
    expect(() => parsePercent('x%')).toThrow(
      'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax',
    )
  })

  it('formats like messages of kube-apiserver', () => {
    expect(String(goIntOrString(5))).toBe('intstr.IntOrString{Type:0, IntVal:5, StrVal:""}')
    expect(String(goIntOrString('x'))).toBe('intstr.IntOrString{Type:1, IntVal:0, StrVal:"x"}')
  })
})

describe('JSON values', () => {
  it('distinguishes objects from lists, null and scalars', () => {
    expect([{}, { a: 1 }, [], null, undefined, 'a', 1, true].map(isJsonObject)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ])
  })
})
