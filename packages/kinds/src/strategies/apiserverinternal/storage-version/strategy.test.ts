import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { storageVersionStrategy } from './strategy.ts'

const context = testContext()
await storageVersionStrategy.ready?.({ metadata: {} } as ApiObject, undefined)
const version = (name: string, status?: object) =>
  ({
    apiVersion: 'internal.apiserver.k8s.io/v1alpha1',
    kind: 'StorageVersion',
    metadata: { name },
    spec: {},
    status,
  }) as ApiObject
const messages = (errors: readonly { readonly field: string; readonly message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message.split(' (e.g.')[0]}`)

describe('storage versions', () => {
  it('have names of a group and a resource', () => {
    const found = (name: string) => messages(runValidation(storageVersionStrategy.validate?.(version(name), context)))
    expect(found('apps.deployments')).toEqual([])
    expect(found('rbac.authorization.k8s.io.roles')).toEqual([])
    expect(found('deployments')).toEqual([
      'metadata.name: Invalid value: "deployments": name must be in the form of <group>.<resource>',
    ])
    expect(found('Apps.1x').map((text) => text.slice(0, 68))).toEqual([
      'metadata.name: Invalid value: "Apps.1x": the group segment a lowerca',
      'metadata.name: Invalid value: "Apps.1x": the resource segment a DNS-',
    ])
  })

  const found = (status: object) => {
    const { validateUpdate } = storageVersionStrategy.subresources?.['status'] ?? {}
    return messages(runValidation(validateUpdate?.(version('apps.x', status), version('apps.x'), context)))
  }
  const server = (
    apiServerID: string,
    encodingVersion: string,
    decodableVersions: readonly string[] | undefined = [encodingVersion],
  ) => {
    return { apiServerID, encodingVersion, decodableVersions }
  }

  it('list servers once, with versions that they can decode', () => {
    expect(found({ storageVersions: [server('a', 'apps/v1')], commonEncodingVersion: 'apps/v1' })).toEqual([])
    const servers = [
      { ...server('a', 'v1', ['v2']), servedVersions: ['v3'] },
      { apiServerID: 'a', encodingVersion: 'v2' },
      server('B', '/v1', ['/v1', 'a/', 'a/b/c']),
    ]
    const at = 'status.storageVersions'
    expect(found({ storageVersions: servers })).toEqual([
      `${at}[0].decodableVersions: Invalid value: []string{"v2"}: decodableVersions must include encodingVersion v1`,
      `${at}[0].servedVersions[0]: Invalid value: "v3": individual served version : v3 must be included in decodableVersions : [v2]`,
      `${at}[1].apiServerID: Duplicate value: "a"`,
      `${at}[1].decodableVersions: Invalid value: []string(nil): decodableVersions must include encodingVersion v2`,
      expect.stringContaining(`${at}[2].apiServerID: Invalid value: "B": a lowercase RFC 1123 subdomain`),
      `${at}[2].encodingVersion: Invalid value: "/v1": group part: must be non-empty`,
      `${at}[2].decodableVersions[0]: Invalid value: "/v1": group part: must be non-empty`,
      `${at}[2].decodableVersions[1]: Invalid value: "a/": version part: must be non-empty`,
      expect.stringContaining(`${at}[2].decodableVersions[2]: Invalid value: "a/b/c": an apiVersion is a DNS-1035 label`),
    ])
  })

  it('have many versions that are looked up in linear time', () => {
    const decodableVersions = Array.from({ length: 100_000 }, (_, i) => `v${i}`)
    const storageVersions = [{ ...server('a', 'v7', decodableVersions), servedVersions: decodableVersions }]
    expect(found({ storageVersions, commonEncodingVersion: 'v7' })).toEqual([])
  })

  it('name the encoding version that all servers have', () => {
    const at = 'status.commonEncodingVersion: Invalid value:'
    const same = [server('a', 'v1'), server('b', 'v1')]
    expect(found({ storageVersions: same, commonEncodingVersion: 'v1' })).toEqual([])
    expect(found({ storageVersions: same, commonEncodingVersion: 'v2' })).toEqual([
      `${at} "v2": the actual common encoding version is v1`,
    ])
    expect(found({ storageVersions: same })).toEqual([`${at} "null": the common encoding version is v1`])
    expect(found({ storageVersions: [server('a', 'v1'), server('b', 'v2')] })).toEqual([])
    for (const storageVersions of [[], [server('a', 'v1'), server('b', 'v2')]])
      expect(found({ storageVersions, commonEncodingVersion: 'v1' })).toEqual([
        `${at} "v1": should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet`,
      ])
  })

  it('have complete conditions of different types', () => {
    const condition = { type: 'A', status: 'True', reason: 'R', message: 'm' }
    expect(found({ conditions: [condition, { ...condition, type: 'B' }] })).toEqual([])
    expect(found({ conditions: [condition, { type: 'A', status: 'x y' }] })).toEqual([
      'status[1].type: Invalid value: "A": the type of the condition is not unique, it also appears in conditions[0]',
      expect.stringContaining('status[1].status: Invalid value: "x y": name part must consist of'),
      'status[1].reason: Required value: reason cannot be empty',
      'status[1].message: Required value: message cannot be empty',
    ])
  })

  it('need a version in updates', () => {
    expect(storageVersionStrategy.allowUnconditionalUpdate).toBe(false)
  })
})
