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
