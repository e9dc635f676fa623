import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { defaultPrinter } from '../printers/default.ts'
import { printers } from '../strategies/printers.ts'
import { printerAt } from './printer-columns.ts'

const shown = (key: string, object: object, minor: number) => {
  const printer = printerAt(printers[key] ?? defaultPrinter, key, minor)
  const cells = printer.cells({ metadata: { name: 'x' }, ...object } as ApiObject, { now: 0 })
  expect(cells).toHaveLength(printer.columns.length)
  return Object.fromEntries(printer.columns.map(({ name }, i) => [name, cells[i]]))
}

it('a printer that a release does not change is the same one', () => {
  expect(printerAt(defaultPrinter, 'apiextensions.k8s.io/CustomResourceDefinition', 36)).toBe(defaultPrinter)
})

describe('Tables of later releases', () => {
  it('leave out the secrets of service accounts since 1.35', () => {
    expect(shown('/ServiceAccount', {}, 34)).toEqual({ Name: 'x', Secrets: 0, Age: '<unknown>' })
    expect(shown('/ServiceAccount', {}, 35)).toEqual({ Name: 'x', Age: '<unknown>' })
  })

  it('show the scope and the versions of definitions since 1.37', () => {
    const spec = {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets', shortNames: ['w', 'wi'] },
      versions: [
        { name: 'v2', served: true, storage: true },
        { name: 'v1', served: true, storage: false },
        { name: 'v0', served: false, storage: false },
      ],
    }
    const metadata = { name: 'x', creationTimestamp: '2020-01-01T00:00:00Z' }
    const status = { conditions: [{ type: 'Established', status: 'True' }] }
    const key = 'apiextensions.k8s.io/CustomResourceDefinition'
    expect(shown(key, { metadata, spec, status }, 36)).toEqual({ Name: 'x', 'Created At': '2020-01-01T00:00:00Z' })
    expect(shown(key, { metadata, spec, status }, 37)).toEqual({
      Name: 'x',
      Scope: 'Namespaced',
      Versions: 'v1,v2(storage)',
      'Created At': '2020-01-01T00:00:00Z',
      Group: 'example.com',
      Kind: 'Widget',
      ShortNames: 'w,wi',
      Established: true,
    })
  })

  it('show the state of migrations since 1.35', () => {
    const conditions = [
      { type: 'Running', status: 'False' },
      { type: 'Succeeded', status: 'True' },
    ]
    const resource = { group: 'apps', version: 'v1', resource: 'deployments' }
    const key = 'storagemigration.k8s.io/StorageVersionMigration'
    expect(shown(key, { spec: { resource }, status: { conditions } }, 34)).toEqual({ Name: 'x', Resource: 'deployments.v1.apps' })
    expect(shown(key, { spec: { resource }, status: { conditions } }, 35)).toEqual({
      Name: 'x',
      Resource: 'deployments.apps',
      Status: 'Succeeded',
    })
    expect(shown(key, { spec: { resource: { resource: 'pods' } } }, 35)).toMatchObject({ Resource: 'pods', Status: 'Unknown' })
  })

  it('name errors of pods before completion since 1.35', () => {
    const ended = (name: string, reason: string, exitCode: number) => ({ name, state: { terminated: { reason, exitCode } } })
    const status = { phase: 'Running', containerStatuses: [ended('a', 'Completed', 0), ended('b', 'Error', 1)] }
    const spec = { containers: [{ name: 'a' }, { name: 'b' }] }
    expect(shown('/Pod', { spec, status }, 34)).toMatchObject({ Status: 'Completed' })
    expect(shown('/Pod', { spec, status }, 35)).toMatchObject({ Status: 'Error' })
  })

  it('show jobs whose criteria are met, and no default class, since 1.34', () => {
    const status = { conditions: [{ type: 'SuccessCriteriaMet', status: 'True' }] }
    expect([33, 34].map((minor) => shown('batch/Job', { status }, minor)['Status'])).toEqual(['Running', 'SuccessCriteriaMet'])
    const annotations = { 'volumeattributesclass.alpha.kubernetes.io/is-default-class': 'true' }
    const metadata = { name: 'x', annotations }
    const key = 'storage.k8s.io/VolumeAttributesClass'
    expect([33, 34].map((minor) => shown(key, { metadata }, minor)['Name'])).toEqual(['x (default)', 'x'])
  })
})
