import { describe, expect, it } from 'vitest'
import { parseRequestInfo } from './info.ts'

const read = (method: string, path: string, watch = false) => {
  const info = parseRequestInfo(method, path, watch)
  if (info === undefined) return undefined
  const { isResource, verb, group, version, namespace, resource, subresource, name } = info
  return isResource ? [verb, group, version, namespace, resource, subresource, name] : [verb, info.path]
}

describe('request info', () => {
  it.each([
    ['GET', '/api/v1/namespaces/ns/pods', ['list', '', 'v1', 'ns', 'pods', '', '']],
    ['GET', '/api/v1/namespaces/ns/pods/p', ['get', '', 'v1', 'ns', 'pods', '', 'p']],
    ['GET', '/api/v1/pods', ['list', '', 'v1', '', 'pods', '', '']],
    ['POST', '/apis/apps/v1/namespaces/ns/deployments', ['create', 'apps', 'v1', 'ns', 'deployments', '', '']],
    ['PUT', '/apis/apps/v1/namespaces/ns/deployments/d/scale', ['update', 'apps', 'v1', 'ns', 'deployments', 'scale', 'd']],
    ['PATCH', '/api/v1/nodes/n/status', ['patch', '', 'v1', '', 'nodes', 'status', 'n']],
    ['DELETE', '/api/v1/namespaces/ns/pods', ['deletecollection', '', 'v1', 'ns', 'pods', '', '']],
    ['DELETE', '/api/v1/namespaces/ns/pods/p', ['delete', '', 'v1', 'ns', 'pods', '', 'p']],
    ['GET', '/api/v1/namespaces', ['list', '', 'v1', '', 'namespaces', '', '']],
    ['GET', '/api/v1/namespaces/ns', ['get', '', 'v1', 'ns', 'namespaces', '', 'ns']],
    ['PUT', '/api/v1/namespaces/ns/finalize', ['update', '', 'v1', 'ns', 'namespaces', 'finalize', 'ns']],
    ['PUT', '/api/v1/namespaces/ns/status', ['update', '', 'v1', 'ns', 'namespaces', 'status', 'ns']],
    ['GET', '/api/v1/namespaces/ns/pods/', ['list', '', 'v1', 'ns', 'pods', '', '']],
    ['GET', '/api/v1/namespaces/ns/pods/web//', ['get', '', 'v1', 'ns', 'pods', '', 'web']],
    ['GET', '/api/v1/namespaces/ns/configmaps/a%2Fb', ['get', '', 'v1', 'ns', 'configmaps', 'b', 'a']],
    ['GET', '/api/v1/watch/namespaces/ns/pods/p', ['watch', '', 'v1', 'ns', 'pods', '', 'p']],
  ])('parses %s %s [P138, P149]', (method, path, expected) => {
    expect(read(method, path)).toEqual(expected)
  })

  it('turns lists and gets with a watch parameter into watches [P141, P142]', () => {
    expect(read('GET', '/api/v1/pods', true)?.[0]).toBe('watch')
    expect(read('GET', '/api/v1/namespaces/ns/pods/p', true)?.[0]).toBe('watch')
    expect(read('POST', '/api/v1/namespaces/ns/pods', true)?.[0]).toBe('create')
    expect(read('GET', '/api/v1/namespaces/ns/pods/p/status', true)?.[0]).toBe('get')
  })

  it.each(['/', '/api', '/apis/', '/api/v1', '/apis/apps/v1', '/version', '/healthz', '/api//v1/pods'])(
    'treats %s as a non-resource path',
    (path) => {
      expect(read('GET', path)).toEqual(['get', path])
    },
  )

  it('returns undefined for an invalid escape', () => {
    expect(parseRequestInfo('GET', '/api/v1/%zz', false)).toBeUndefined()
  })
})
