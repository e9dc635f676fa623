import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/catalog.ts'
import { ClusterTrustBundle } from '../../handles/certificates-v1beta1.generated.ts'
import { ResourceClaim } from '../../handles/resource-v1beta1.generated.ts'
import { ResourceClaim as NewResourceClaim } from '../../handles/resource-v1beta2.generated.ts'
import { runPreparation } from '../../preparation.ts'
import { testContext } from '../testing/context.ts'
import { faults } from '../testing/objects.ts'

describe('kinds with generic strategies', () => {
  it('require the members that the type requires', () => {
    const claim = (request: object) =>
      ResourceClaim.create({ metadata: { name: 'c' }, spec: { devices: { requests: [request as never] } } })
    expect(ResourceClaim.validate(claim({ name: 'a', deviceClassName: 'gpu' }))).toEqual([])
    expect(faults(ResourceClaim.validate(claim({ deviceClassName: 'gpu', selectors: [{ cel: {} }] })))).toEqual([
      'spec.devices.requests[0].name Required',
      'spec.devices.requests[0].selectors[0].cel.expression Required',
    ])
    const newer = NewResourceClaim.create({
      metadata: { name: 'C' },
      spec: { devices: { requests: [{ name: '', exactly: { deviceClassName: 'gpu' } }] } },
    })
    expect(faults(NewResourceClaim.validate(newer))).toEqual(['metadata.name Invalid', 'spec.devices.requests[0].name Required'])
  })

  it('leave the status to its sub-resource', () => {
    const { strategy } = createCatalog({ runtimeConfig: 'api/all=true' }).resource({
      group: 'resource.k8s.io',
      version: 'v1beta1',
      resource: 'resourceclaims',
    })!
    const made = {
      ...ResourceClaim.create({ metadata: { name: 'c' }, spec: {} }),
      status: { reservedFor: [{ name: 'x' }] },
    } as never
    runPreparation(strategy.prepareForCreate?.(made, testContext()))
    expect(made).toHaveProperty('status', {})
    expect(strategy.resetFields).toEqual({ '': [['status']], status: [['spec']] })
  })

  it('name trust bundles after their signer', () => {
    const bundle = (name: string, signerName = '') =>
      ClusterTrustBundle.create({ metadata: { name }, spec: { trustBundle: 'x', ...(signerName === '' ? {} : { signerName }) } })
    const found = (name: string, signerName?: string) =>
      faults(ClusterTrustBundle.validate(bundle(name, signerName))).filter((fault) => fault.startsWith('metadata'))
    expect(found('a')).toEqual([])
    expect(found('example.com:signer:a', 'example.com/signer')).toEqual([])
    expect(found('example.com:signer:A', 'example.com/signer')).toEqual(['metadata.name Invalid'])
    expect(found('a', 'example.com/signer')).toEqual(['metadata.name Invalid'])
    expect(found('example.com:signer:a')).toEqual(['metadata.name Invalid'])
  })

  it('select resource slices by node and driver', () => {
    const { strategy } = createCatalog({ runtimeConfig: 'api/all=true' }).resource({
      group: 'resource.k8s.io',
      version: 'v1beta1',
      resource: 'resourceslices',
    })!
    const slice = { metadata: { name: 'a' }, spec: { nodeName: 'n', driver: 'd.example.com' } } as never
    expect(strategy.selectableFields?.['spec.nodeName']?.(slice)).toBe('n')
    expect(strategy.selectableFields?.['spec.driver']?.(slice)).toBe('d.example.com')
    expect(strategy.selectableFields?.['spec.driver']?.({ metadata: { name: 'a' } } as never)).toBe('')
  })

  it('cover every stored kind', () => {
    const without = createCatalog({ runtimeConfig: 'api/all=true' }).definitions.filter(
      ({ strategy, resource }) => strategy.validate === undefined && resource.virtual !== true,
    )
    expect(without.map(({ kind }) => kind.kind)).toEqual([])
  })
})
