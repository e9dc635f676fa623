import { type ApiObject, createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { storageVersionMigrationStrategy as strategy } from './strategy.ts'

const context = testContext()
await strategy.ready?.({ metadata: {} } as ApiObject, undefined)
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' }
const migration = (resource: object = deployments, status: object = {}) => {
  const metadata = { name: 'm', resourceVersion: '1', uid: 'u' }
  return {
    apiVersion: 'storagemigration.k8s.io/v1alpha1',
    kind: 'StorageVersionMigration',
    metadata,
    spec: { resource },
    status,
  } as ApiObject
}
const messages = (errors: readonly { readonly field: string; readonly message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`)

describe('storage version migrations', () => {
  it('name a resource, for good', () => {
    const made = (resource: object) => messages(runValidation(strategy.validate?.(migration(resource), context)))
    expect(made(deployments)).toEqual([])
    expect(made({ version: 'v1', resource: 'pods' })).toEqual([])
    expect(made({ group: 'apps' })).toEqual([
      'spec.resource.resource: Required value: resource is required',
      'spec.resource.version: Required value: version is required',
    ])
    const next = migration({ version: 'v2', resource: 'x' })
    expect(messages(runValidation(strategy.validateUpdate?.(next, migration(), context)))).toEqual([
      'group: Invalid value: "": field is immutable',
      'version: Invalid value: "v2": field is immutable',
      'resource: Invalid value: "x": field is immutable',
    ])
    expect(strategy.allowUnconditionalUpdate).toBe(false)
  })

  const found = (status: object, old: object = {}) => {
    const { validateUpdate } = strategy.subresources?.['status'] ?? {}
    const [next, before] = [status, old].map((each) => migration(deployments, each)) as [ApiObject, ApiObject]
    return messages(runValidation(validateUpdate?.(next, before, context)))
  }

  it('have a version that is a number and stays', () => {
    for (const resourceVersion of ['5', '-0', '+5', `${'0'.repeat(1_000_000)}5`]) expect(found({ resourceVersion })).toEqual([])
    expect(found({ resourceVersion: '9'.repeat(1000) })[0]).toContain('value out of range')
    expect(found({ resourceVersion: '-5' })).toEqual([
      'status.resourceVersion: Invalid value: -5: must be greater than or equal to 0',
    ])
    const parsing = (text: string) =>
      `status.resourceVersion: Invalid value: "${text}": failed to parse resource version "${text}": strconv.ParseInt: parsing "${text}"`
    expect(found({ resourceVersion: '5x' })).toEqual([`${parsing('5x')}: invalid syntax`])
    const large = '9223372036854775808'
    expect(found({ resourceVersion: large })).toEqual([`${parsing(large)}: value out of range`])
    expect(found({}, { resourceVersion: '5' })).toEqual([
      'status.resourceVersion: Invalid value: "": resourceVersion cannot be updated',
    ])
  })

  const condition = (type: string, status = 'True') => ({ type, status, reason: 'R', lastUpdateTime: '2024-02-29T23:59:59Z' })

  it('have complete conditions', () => {
    expect(found({ conditions: [condition('Running')] })).toEqual([])
    const conditions = [
      { type: 'A', status: 'no', reason: 'R', lastUpdateTime: '0001-01-01T00:00:00Z' },
      { type: 'A', status: 'True' },
    ]
    expect(found({ conditions })).toEqual([
      'status.conditions[0].status: Unsupported value: "no": supported values: "False", "True", "Unknown"',
      'status.conditions[0].lastTransitionTime: Required value: must be set',
      'status.conditions[1].type: Duplicate value: "A"',
      'status.conditions[1].lastTransitionTime: Required value: must be set',
      'status.conditions[1].reason: Required value: must be set',
    ])
  })

  it('end once', () => {
    const type = 'storagemigration.MigrationCondition'
    const time = 'time.Date(2024, time.February, 29, 23, 59, 59, 0, time.Local)'
    const printed = (name: string, status = 'True') =>
      `${type}{Type:"${name}", Status:"${status}", LastUpdateTime:${time}, Reason:"R", Message:""}`
    const both = `status.conditions: Invalid value: []${type}{${printed('Succeeded')}, ${printed('Failed')}}`
    expect(found({ conditions: [condition('Succeeded'), condition('Failed')] })).toEqual([
      `${both}: Both success and failed conditions cannot be true at the same time`,
    ])
    for (const [end, word] of [
      ['Succeeded', 'success'],
      ['Failed', 'failed'],
    ] as const) {
      const running = found({ conditions: [condition(end), condition('Running')] })
      expect(running).toEqual([expect.stringMatching(`: Running condition cannot be true when ${word} condition is true$`)])
      const [again] = found({ conditions: [condition(end, 'False')] }, { conditions: [condition(end)] })
      expect(again).toBe(
        `status.conditions: Invalid value: []${type}{${printed(end, 'False')}}: ${word === 'failed' ? 'Failed' : 'Success'} condition cannot be set to false once it is true`,
      )
    }
  })
})

describe('migrations since 1.35', () => {
  const at = (release: string) => testContext({ features: createFeatures(release) })
  const created = (resource: object, release: string) =>
    messages(runValidation(strategy.validate?.(migration(resource), at(release))))

  it('name a group and a resource', () => {
    expect(created({ group: 'apps', resource: 'deployments' }, '1.35')).toEqual([])
    expect(created({ group: 'apps', resource: 'deployments' }, '1.34')).toEqual([
      'spec.resource.version: Required value: version is required',
    ])
    const [resource, group] = created({ group: 'A', resource: '9' }, '1.35')
    expect(resource).toMatch(/^spec.resource.resource: Invalid value: "9": a DNS-1035 label/)
    expect(group).toMatch(/^spec.resource.group: Invalid value: "A": a lowercase RFC 1123 subdomain/)
    const next = migration({ group: 'apps', resource: 'x' })
    const fields = runValidation(strategy.validateUpdate?.(next, migration({ group: 'apps', resource: 'y' }), at('1.35')))
    expect(fields.map(({ field }) => field)).toEqual(['spec'])
  })

  it('have a version without leading zeros, and may run after they ended since 1.37', () => {
    const found = (release: string, status: object, old: object = {}) => {
      const { validateUpdate } = strategy.subresources?.['status'] ?? {}
      const [next, before] = [status, old].map((each) => migration({ resource: 'pods' }, each)) as [ApiObject, ApiObject]
      return messages(runValidation(validateUpdate?.(next, before, at(release))))
    }
    const malformed = (text: string) =>
      `status.resourceVersion: Invalid value: "${text}": resource version is not well formed: ${text}`
    expect([found('1.36', {}), found('1.37', {})]).toEqual([[malformed('')], []])
    expect(found('1.37', { resourceVersion: '05' })).toEqual([malformed('05')])
    expect(found('1.37', { resourceVersion: '6' }, { resourceVersion: '5' })).toEqual([
      'status.resourceVersion: Invalid value: "6": field is immutable',
    ])
    const lastTransitionTime = '2020-01-01T00:00:00Z'
    const conditions = ['Succeeded', 'Running'].map((type) => ({
      type,
      status: 'True',
      reason: 'A',
      message: '',
      lastTransitionTime,
    }))
    expect(found('1.36', { resourceVersion: '5', conditions })).toHaveLength(1)
    expect(found('1.37', { resourceVersion: '5', conditions })).toEqual([])
  })
})
