import { describe, expect, it } from 'vitest'
import { requestAttributes } from './request-attributes.ts'

const formatted = ({ verb, group, version, resource, subresource, namespace, name }: ReturnType<typeof requestAttributes>) =>
  [verb, group, version, resource, subresource, namespace, name].join('|')

describe('requestAttributes', () => {
  it.each([
    ['GET', '/api/v1/pods', '', 'list||v1|pods|||'],
    ['GET', '/api/v1/namespaces/a/pods', 'watch=1', 'watch||v1|pods||a|'],
    ['GET', '/api/v1/namespaces/a/pods', 'limit=2&watch=true', 'watch||v1|pods||a|'],
    ['GET', '/api/v1/namespaces/a/pods', 'watch', 'watch||v1|pods||a|'],
    ['GET', '/api/v1/namespaces/a/pods', 'watch=0', 'list||v1|pods||a|'],
    ['GET', '/api/v1/namespaces/a/pods', 'watch=false', 'list||v1|pods||a|'],
    ['GET', '/api/v1/namespaces/a/pods', 'fieldSelector=watch', 'list||v1|pods||a|'],
    ['GET', '/api/v1/namespaces/a/pods/b', '', 'get||v1|pods||a|b'],
    ['PUT', '/api/v1/namespaces/a/pods/b/status', '', 'update||v1|pods|status|a|b'],
    ['POST', '/api/v1/namespaces', '', 'create||v1|namespaces|||'],
    ['GET', '/api/v1/namespaces/a', '', 'get||v1|namespaces||a|a'],
    ['PUT', '/api/v1/namespaces/a/finalize', '', 'update||v1|namespaces|finalize|a|a'],
    ['PATCH', '/apis/apps/v1/namespaces/a/deployments/b', '', 'patch|apps|v1|deployments||a|b'],
    ['DELETE', '/apis/apps/v1/namespaces/a/deployments', '', 'deletecollection|apps|v1|deployments||a|'],
    ['DELETE', '/apis/apps/v1/namespaces/a/deployments/b%2Fc', '', 'delete|apps|v1|deployments|c|a|b'],
    ['GET', '/apis/apps/v1', '', 'get||||||'],
    ['GET', '/healthz', '', 'get||||||'],
    ['GET', '/api/v1/pods/%zz', '', 'get||||||'],
  ])('parses %s %s?%s', (method, path, query, wanted) => {
    expect(formatted(requestAttributes({ method, path, query }))).toBe(wanted)
  })
})
