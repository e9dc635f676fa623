import { createCatalog } from '@krmkit/kinds'
import { ApiError } from '@krmkit/meta'
import { parseFieldSelector } from '@krmkit/meta/selectors'
import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'
import { usableSelectors } from './selectors.ts'

const catalog = createCatalog({ runtimeConfig: 'api/all=true' })

function refusal(group: string, version: string, resource: string): string {
  const definition = catalog.resource({ group, version, resource })
  const fieldSelector = parseFieldSelector('spec.x=y')
  try {
    usableSelectors({ definition } as never, { labelSelector: undefined, fieldSelector } as never)
  } catch (error) {
    if (ApiError.is(error)) return error.message
    throw error
  }
  return 'accepted'
}

describe('selectors of fields that a kind does not index', () => {
  it.each([
    ['', 'v1', 'nodes', 'field label not supported: spec.x'],
    ['batch', 'v1', 'jobs', 'field label "spec.x" not supported for Job'],
    [
      'resource.k8s.io',
      'v1beta2',
      'resourceslices',
      'field label not supported for resource.k8s.io/v1beta2, Kind=ResourceSlice: spec.x',
    ],
    [
      'resource.k8s.io',
      'v1beta1',
      'deviceclasses',
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
  ])('are refused in the words of the kind: %s/%s %s', (group, version, resource, message) => {
    expect(refusal(group, version, resource)).toBe(message)
  })
})

describe('a selector of the namespace of a cluster-scoped kind', () => {
  const names = async (path: string, selector: string) => {
    const { ask } = await sampleServer()
    const { status, json } = await ask(`${path}?fieldSelector=${encodeURIComponent(selector)}`)
    return status === 200 ? json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name) : json.message
  }
  const priorities = '/apis/scheduling.k8s.io/v1/priorityclasses'

  it('selects by the empty text where the kind has no selectable fields', async () => {
    expect(await names(priorities, 'metadata.namespace=default')).toEqual([])
    const all = ['system-cluster-critical', 'system-node-critical']
    expect(await names(priorities, 'metadata.namespace!=default')).toEqual(all)
    expect(await names(priorities, 'metadata.namespace=')).toEqual(all)
  })

  it('is refused where the kind has selectable fields', async () => {
    expect(await names('/api/v1/nodes', 'metadata.namespace=default')).toBe('field label not supported: metadata.namespace')
  })
})
