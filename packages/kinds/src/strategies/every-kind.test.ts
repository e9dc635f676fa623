import { describe, expect, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import { ClusterTrustBundle } from '../group-versions/certificates-v1beta1.generated.ts'
import { faults } from './testing/objects.ts'

describe('kinds with generic strategies', () => {
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

  it('cover every stored kind', () => {
    const without = createCatalog({ runtimeConfig: 'api/all=true' }).definitions.filter(
      ({ strategy, resource }) => strategy.validate === undefined && resource.virtual !== true,
    )
    expect(without.map(({ kind }) => kind.kind)).toEqual([])
  })
})
