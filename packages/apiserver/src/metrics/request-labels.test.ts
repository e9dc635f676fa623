import type { ResourceDefinition } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { contextOf } from '../testing/sample-server.ts'
import { requestLabeler } from './request-labels.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const definitionOf = () => ({ subresources: [{ name: 'configmaps/status' }] }) as unknown as ResourceDefinition

describe('request labels', () => {
  it('are one object for requests that differ in no label', () => {
    const definition = definitionOf()
    const labelsOf = requestLabeler({ find: () => definition, remote: () => [] })
    const get = labelsOf(contextOf(`${maps}/a`), 200)
    expect(labelsOf(contextOf(`${maps}/b`), 200)).toBe(get)
    const others = [
      labelsOf(contextOf(`${maps}/a`), 404),
      labelsOf(contextOf(`${maps}/a/status`), 200),
      labelsOf(contextOf(`${maps}/a?dryRun=All`), 200),
      labelsOf(contextOf(maps), 200),
      labelsOf(contextOf('/api/v1/configmaps'), 200),
      labelsOf(contextOf(maps, { method: 'POST' }), 200),
    ]
    expect(new Set([get, ...others]).size).toBe(7)
    expect(others.map(({ code, dry_run, scope, subresource, verb }) => [code, dry_run, scope, subresource, verb])).toEqual([
      [404, '', 'resource', '', 'GET'],
      [200, '', 'resource', 'status', 'GET'],
      [200, 'All', 'resource', '', 'GET'],
      [200, '', 'namespace', '', 'LIST'],
      [200, '', 'cluster', '', 'LIST'],
      [200, '', 'resource', '', 'POST'],
    ])
  })

  it('of a replaced definition are equal to those of the former one', () => {
    const labelsOf = requestLabeler({ find: definitionOf, remote: () => [] })
    const [first, second] = [labelsOf(contextOf(`${maps}/a`), 200), labelsOf(contextOf(`${maps}/a`), 200)]
    expect(first).not.toBe(second)
    expect(first).toEqual(second)
  })
})
