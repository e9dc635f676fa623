import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Service, ServiceSpec } from '../../../types/core-v1.generated.ts'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { serviceStrategy } from './strategy.ts'

const context = testContext()
const service = (spec: ServiceSpec): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'n', uid: 'u', resourceVersion: '1' },
  spec: { type: 'ClusterIP', sessionAffinity: 'None', ports: [{ port: 1, protocol: 'TCP', targetPort: 1 }], ...spec },
})

describe('families of services', () => {
  const changed = (before: ServiceSpec, after: ServiceSpec) =>
    runValidation(serviceStrategy.validateUpdate?.(service(after), service(before), context)).map(({ field }) => field)
  const headless = { clusterIP: 'None', clusterIPs: ['None'], ipFamilyPolicy: 'RequireDualStack' }

  it('lets headless services change them', () => {
    const before = { ...headless, ipFamilies: ['IPv4', 'IPv6'] }
    expect(changed(before, { ...headless, ipFamilies: ['IPv6', 'IPv4'] })).toEqual([])
  })

  it('keeps them for services with addresses', () => {
    const spec = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] }
    expect(changed(spec, { ...spec, ipFamilies: ['IPv6'] })).toContain('spec.ipFamilies[0]')
  })
})

it('hides the internal traffic policy of a service that is only a name, and stores it', () => {
  const named = service({ type: 'ExternalName', externalName: 'a.b', internalTrafficPolicy: 'Local' })
  expect(serviceStrategy.decorate?.(named)).toEqual(service({ type: 'ExternalName', externalName: 'a.b' }))
  expect(named.spec?.internalTrafficPolicy).toBe('Local')
  const other = service({ internalTrafficPolicy: 'Local' })
  expect(serviceStrategy.decorate?.(other)).toBe(other)
})

describe('services by release', () => {
  const at = (release: string, gates: Record<string, boolean> = {}) => testContext({ features: createFeatures(release, gates) })
  const texts = (spec: ServiceSpec, release: string) => serviceStrategy.warnings?.(service(spec), undefined, at(release))

  it('warns of external addresses since 1.36, and of PreferClose since 1.35', () => {
    const spec = { externalIPs: ['1.2.3.4'], trafficDistribution: 'PreferClose' }
    const close = 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
    expect(texts(spec, '1.34')).toEqual([])
    expect(texts(spec, '1.35')).toEqual([close])
    expect(texts(spec, '1.36')).toEqual([
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
      close,
    ])
  })

  it('warns of what headless services ignore since 1.34, before other texts', () => {
    const spec = { clusterIP: 'None', clusterIPs: ['None'], externalIPs: ['1.2.3.4'], externalName: 'a.b' }
    const name = 'spec.externalName is ignored when spec.type is not "ExternalName"'
    expect(texts(spec, '1.33')).toEqual([name])
    expect(texts(spec, '1.36')).toEqual(['spec.externalIPs is ignored for headless services', name])
  })

  it('accepts names that start with a digit behind a gate, and keeps names in updates since 1.34', () => {
    const named = { ...service({}), metadata: { ...service({}).metadata, name: '1a' } }
    const created = (release: string, gates?: Record<string, boolean>) =>
      runValidation(serviceStrategy.validate?.(named, at(release, gates))).map(({ field }) => field)
    expect(created('1.36', { RelaxedServiceNameValidation: true })).toEqual([])
    expect(created('1.35', { RelaxedServiceNameValidation: false })).toEqual(['metadata.name'])
    const updated = (release: string) =>
      runValidation(serviceStrategy.validateUpdate?.(named, named, at(release))).map(({ field }) => field)
    expect([updated('1.33'), updated('1.34')]).toEqual([['metadata.name'], []])
  })
})
