import { resourceType } from '@krmkit/client'
import { createCatalog } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServerOptions } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'

const begin = (options: TestServerOptions = {}) => createTestServer({ startAtMs: Date.UTC(2031, 0, 1), ...options })

describe('trust bundles', () => {
  const bundles = resourceType<ApiObject & { spec: { signerName?: string; trustBundle: string } }>({
    group: 'certificates.k8s.io',
    version: 'v1beta1',
    resource: 'clustertrustbundles',
    kind: 'ClusterTrustBundle',
    namespaced: false,
  })
  const publisher = 'kube-apiserver-serving-clustertrustbundle-publisher-controller'

  it('replace earlier ones with the authority of the server if the kind is served', async () => {
    await using source = await begin()
    const rootCA = await source.signingAuthority()
    const kinds = createCatalog({ runtimeConfig: 'certificates.k8s.io/v1beta1=true' }).definitions
    await using cluster = await begin({ controllers: [publisher], rootCA, server: { kinds } })
    const { client } = cluster
    await using other = await begin()
    const old = { signerName: 'kubernetes.io/kube-apiserver-serving', trustBundle: await other.signingAuthority() }
    await client.create(bundles, { metadata: { name: 'kubernetes.io:kube-apiserver-serving:old' }, spec: old })
    await client.create(bundles, { metadata: { name: 'mine' }, spec: { trustBundle: old.trustBundle } })
    await cluster.settle()
    const named = async () => (await client.list(bundles)).items.map(({ metadata, spec }) => [metadata.name, spec.trustBundle])
    const published = [expect.stringMatching(/^kubernetes\.io:kube-apiserver-serving:[0-9a-f]{64}$/), rootCA]
    expect(await named()).toEqual([published, ['mine', old.trustBundle]])
    await client.delete(bundles, String((await named())[0]![0]))
    await cluster.settle()
    expect(await named()).toEqual([published, ['mine', old.trustBundle]])
  })
})
