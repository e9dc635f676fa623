import type { JsonObject } from '@krmkit/meta'
import { createTypeSource } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { modelFiles } from '../testing/model.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { typedSchemaOf } from '../typed/from-struct.ts'
import { apply } from './apply.ts'
import { diffObjects } from './diff.ts'
import { explainConflict, preview } from './explain.ts'
import { extract } from './extract.ts'
import { migrate } from './migrate.ts'
import { ownership } from './ownership.ts'
import { valueAt } from './value-at.ts'

const source = createTypeSource(modelFiles())
const schema = source.struct('core/v1.PodTemplate')

function template(containers: JsonObject[], labels?: JsonObject): JsonObject {
  const metadata: JsonObject = { name: 't', namespace: 'x' }
  return {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata,
    template: { ...(labels ? { metadata: { labels } } : {}), spec: { containers } },
  }
}

const live = deepFreeze(
  apply({ applied: template([{ name: 'a', image: 'i' }], { app: 'a' }), manager: 'ci', schema, now: Date.UTC(2025, 0, 1) })
    .object,
)

describe('field management without a server', () => {
  it('applies a configuration and reports the changes', () => {
    const result = apply({ live, applied: template([{ name: 'b', image: 'j' }]), manager: 'me', schema })
    expect(result.conflicts).toEqual([])
    expect(result.managedFields.map(({ manager, time }) => [manager, time])).toEqual([
      ['me', undefined],
      ['ci', '2025-01-01T00:00:00Z'],
    ])
    expect(result.changes).toEqual([
      {
        kind: 'added',
        path: ['f:template', 'f:spec', 'f:containers', 'k:{"name":"b"}'],
        field: '.template.spec.containers[name="b"]',
        after: { name: 'b', image: 'j' },
      },
    ])
  })

  it('reports conflicts and returns the live object', () => {
    const wanted = template([{ name: 'a', image: 'j' }])
    const result = apply({ live, applied: wanted, manager: 'me', schema })
    expect(result.object).toBe(live)
    expect(result.changes).toEqual([])
    const [conflict] = result.conflicts
    expect(conflict && explainConflict(conflict, { live, applied: wanted, schema })).toMatchObject({
      field: '.template.spec.containers[name="a"].image',
      manager: 'ci',
      operation: 'Apply',
      since: '2025-01-01T00:00:00Z',
      live: 'i',
      wanted: 'j',
    })
  })

  it('previews the resolutions of a conflict', () => {
    const request = { live, applied: template([{ name: 'a', image: 'j' }]), manager: 'me', schema }
    const image = (object: JsonObject) =>
      valueAt(object, ['f:template', 'f:spec', 'f:containers', 'k:{"name":"a"}', 'f:image'], typeOfSchema())
    const owners = (object: JsonObject) =>
      ownership(object)
        .find(({ field }) => field.endsWith('.image'))
        ?.owners.map(({ manager }) => manager)
    const forced = preview(request, 'force')
    expect([image(forced.object), owners(forced.object)]).toEqual(['j', ['me']])
    const abandoned = preview(request, 'abandon')
    expect([image(abandoned.object), owners(abandoned.object)]).toEqual(['i', ['ci']])
    expect(abandoned.applied).toEqual(template([{ name: 'a' }]))
    const shared = preview(request, 'share')
    expect([image(shared.object), owners(shared.object)]).toEqual(['i', ['me', 'ci']])
    expect(shared.applied).toEqual(template([{ name: 'a', image: 'i' }]))
    expect(preview({ ...request, applied: template([{ name: 'a' }]) }, 'force').conflicts).toEqual([])
  })

  it('drops emptied members when a conflict is abandoned', () => {
    const request = { live, applied: template([{ name: 'c' }], { app: 'b' }), manager: 'me', schema }
    expect(preview(request, 'abandon').applied).toEqual(template([{ name: 'c' }]))
  })

  it('lists the owners of each field', () => {
    const fields = ownership(apply({ live, applied: template([{ name: 'a', image: 'i' }]), manager: 'me', schema }).object)
    expect(fields.map(({ field, owners }) => `${field} ${owners.map(({ manager }) => manager).join('+')}`)).toEqual([
      '.template.metadata.labels.app ci',
      '.template.spec.containers[name="a"] me+ci',
      '.template.spec.containers[name="a"].image me+ci',
      '.template.spec.containers[name="a"].name me+ci',
    ])
    expect(ownership({ metadata: {} })).toEqual([])
  })

  it('extracts the configuration of a manager', () => {
    const both = apply({ live, applied: template([{ name: 'b', image: 'j' }]), manager: 'me', schema }).object
    expect(extract(both, 'ci', { schema })).toEqual(template([{ name: 'a', image: 'i' }], { app: 'a' }))
    expect(extract(both, 'absent', { schema })).toEqual({
      apiVersion: 'v1',
      kind: 'PodTemplate',
      metadata: { name: 't', namespace: 'x' },
    })
  })

  it('migrates client-side apply to server-side apply', () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
    const fields = { 'f:data': { '.': {}, 'f:k': {} }, 'f:metadata': { 'f:annotations': { '.': {}, [`f:${annotation}`]: {} } } }
    const old = (apiVersion: string) => ({
      manager: 'kubectl-client-side-apply',
      operation: 'Update',
      apiVersion,
      time: '2020-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: fields,
    })
    const object = deepFreeze({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        annotations: { [annotation]: '{}', x: 'y' },
        managedFields: [old('v1'), old('v0'), { ...old('v1'), manager: 'other', fieldsV1: { 'f:data': { 'f:l': {} } } }],
      },
      data: { k: 'v' },
    })
    const migrated = migrate(object, { removeAnnotation: true }) as typeof object
    expect(migrated.metadata.annotations).toEqual({ x: 'y' })
    expect(migrated.metadata.managedFields).toEqual([
      {
        ...old('v1'),
        manager: 'kubectl',
        operation: 'Apply',
        fieldsV1: { 'f:data': { '.': {}, 'f:k': {} }, 'f:metadata': { 'f:annotations': {} } },
      },
      { ...old('v1'), manager: 'other', fieldsV1: { 'f:data': { 'f:l': {} } } },
    ])
    const config = source.struct('core/v1.ConfigMap')
    const next = apply({
      live: migrated,
      applied: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      manager: 'kubectl',
      schema: config,
    })
    expect(next.changes.map(({ kind, field }) => `${kind} ${field}`)).toContain('removed .data.k')
    expect(migrate(live)).toEqual(live)
  })

  it('compares list items by key', () => {
    const before = template([{ name: 'a', image: 'i' }, { name: 'b' }])
    const after = template([{ name: 'b' }, { name: 'a', image: 'j' }])
    expect(diffObjects(before, after, schema)).toEqual([
      {
        kind: 'modified',
        path: ['f:template', 'f:spec', 'f:containers', 'k:{"name":"a"}', 'f:image'],
        field: '.template.spec.containers[name="a"].image',
        before: 'i',
        after: 'j',
      },
    ])
    expect(diffObjects({ a: 1 }, { b: 2 }).map(({ kind, field }) => `${kind} ${field}`)).toEqual(['removed .a', 'added .b'])
  })
})

function typeOfSchema() {
  return typedSchemaOf(schema)
}
