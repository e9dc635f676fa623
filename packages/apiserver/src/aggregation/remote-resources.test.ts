import { describe, expect, it } from 'vitest'
import { discoveredResources, listedResources } from './remote-resources.ts'

describe('listedResources', () => {
  const list = (resources: unknown) => listedResources(JSON.stringify({ kind: 'APIResourceList', resources }))

  it('converts resources and subresources, with empty group and version', () => {
    const all = list([
      { name: 'a/status', namespaced: true, kind: 'A', verbs: ['get'] },
      {
        name: 'a',
        singularName: 'b',
        namespaced: true,
        kind: 'A',
        verbs: ['get', 'list'],
        shortNames: ['x'],
        categories: ['all'],
      },
      { name: 'a/scale', namespaced: true, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
    ])
    expect(all).toEqual([
      {
        resource: 'a',
        responseKind: { group: '', version: '', kind: 'A' },
        scope: 'Namespaced',
        singularResource: 'b',
        verbs: ['get', 'list'],
        shortNames: ['x'],
        categories: ['all'],
        subresources: [
          { subresource: 'status', responseKind: { group: '', version: '', kind: 'A' }, verbs: ['get'] },
          { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: ['get'] },
        ],
      },
    ])
  })

  it('accepts a subresource without its resource', () => {
    expect(list([{ name: 'a/b', kind: 'B', verbs: ['create'] }])).toEqual([
      {
        resource: 'a',
        responseKind: { group: '', version: '', kind: '' },
        scope: 'Cluster',
        verbs: null,
        subresources: [{ subresource: 'b', responseKind: { group: '', version: '', kind: 'B' }, verbs: ['create'] }],
      },
    ])
  })

  it('rejects contradictory scopes, and ignores members of unexpected types', () => {
    expect(() => list([{ name: 'a', namespaced: true }, { name: 'a/b' }])).toThrow('scopes')
    expect(list([null, 5, {}, { name: '__proto__' }])).toHaveLength(1)
    for (const text of ['null', '{}', '{"kind":"APIResourceList","resources":5}']) expect(() => listedResources(text)).toThrow()
  })
})

describe('discoveredResources', () => {
  it('groups resources by group version and always sets responseKind', () => {
    const text = JSON.stringify({
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: { name: 'g' },
          versions: [{ version: 'v1', resources: [{ resource: 'a', subresources: [{ subresource: 's' }] }] }, { version: 'v2' }],
        },
        { metadata: null, versions: [null, {}] },
      ],
    })
    const none = { group: '', version: '', kind: '' }
    expect([...discoveredResources(text)]).toEqual([
      [
        'g/v1',
        [
          {
            resource: 'a',
            responseKind: none,
            scope: '',
            singularResource: '',
            verbs: [],
            subresources: [{ subresource: 's', responseKind: none, verbs: [] }],
          },
        ],
      ],
      ['g/v2', []],
    ])
    for (const broken of ['null', '{}', '{"kind":"APIGroupDiscoveryList","items":5}']) {
      expect(() => discoveredResources(broken)).toThrow()
    }
  })

  it('copies known members only', () => {
    const kind = { group: 'g', version: 'v1', kind: 'A' }
    const resource = {
      resource: 'a',
      responseKind: { ...kind, more: {} },
      scope: 'Cluster',
      singularResource: 5,
      verbs: ['get', {}, null],
      shortNames: ['x'],
      categories: 'all',
      extra: { deep: [] },
      subresources: [{ subresource: 's', responseKind: kind, acceptedTypes: [kind], verbs: 'get' }],
    }
    const text = JSON.stringify({
      kind: 'APIGroupDiscoveryList',
      items: [{ metadata: { name: 'g' }, versions: [{ version: 'v1', resources: [resource] }] }],
    })
    expect(discoveredResources(text).get('g/v1')).toEqual([
      {
        resource: 'a',
        responseKind: kind,
        scope: 'Cluster',
        singularResource: '',
        verbs: ['get'],
        shortNames: ['x'],
        subresources: [{ subresource: 's', responseKind: kind, acceptedTypes: [kind], verbs: [] }],
      },
    ])
  })
})
