import { describe, expect, it } from 'vitest'
import { FieldManagerError } from './field-manager-error.ts'
import * as offline from './index.ts'
import { source } from './testing/config-maps.ts'

/** Calls with invalid arguments, as untyped callers make them. */

const wrong = (value: unknown) => value as never
const config = (k: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k } })
const type = source.struct('core/v1.ConfigMap')
const applied = config('1')
const { object: live } = offline.apply({ applied, manager: 'm' })
const states = { original: {}, modified: {}, current: {} }

const cases: readonly (readonly [call: () => unknown, message: string])[] = [
  [() => offline.apply(wrong(undefined)), 'apply needs an object such as { live, applied, manager'],
  [() => offline.apply(wrong({})), 'apply: applied is an object, not undefined'],
  [() => offline.apply({ applied: wrong(null), manager: 'm' }), 'applied is an object, not null'],
  [() => offline.apply(wrong({ applied })), 'apply needs the name of a manager, not undefined'],
  [() => offline.apply({ applied, manager: '' }), 'apply needs the name of a manager, not ""'],
  [() => offline.apply(wrong({ applied, fieldManager: 'm' })), 'has no "fieldManager"; known: live, applied, manager, schema'],
  [() => offline.apply({ applied, manager: 'm', live: wrong(3) }), 'live is an object, not 3'],
  [() => offline.apply({ applied, manager: 'm', force: wrong('no') }), 'force is true or false, not "no"'],
  [() => offline.apply({ applied, manager: 'm', schema: wrong(() => type) }), 'Deployment.type(), not a function'],
  [() => offline.apply({ applied, manager: 'm', schema: wrong({ type: () => type }) }), 'Deployment.type(), not { type }'],
  [() => offline.apply({ applied: { apiVersion: 'v1' }, manager: 'm' }), 'the configuration has no kind'],
  [() => offline.apply({ live, applied: { ...applied, kind: 'Secret' }, manager: 'm' }), 'the live object is v1 ConfigMap'],
  [() => offline.apply({ live, applied: { ...applied, apiVersion: 'g/v1' }, manager: 'm' }), 'the configuration g/v1 ConfigMap'],
  [
    () => offline.apply({ live, applied: { ...applied, metadata: { name: 'b' } }, manager: 'm' }),
    'the live object has the name a, the configuration b',
  ],
  [() => offline.preview({ applied, manager: 'm' }, wrong('froce')), 'force, abandon or share, not "froce"'],
  [
    () => offline.extract(wrong({ live, manager: 'm' }), wrong(undefined)),
    'extract(object, manager) needs the name of a manager',
  ],
  [() => offline.extract(wrong(undefined), 'm'), 'object is an object, not undefined'],
  [() => offline.extract(live, 'm', wrong({ sub: '' })), 'has no "sub"; known: schema, subresource'],
  [() => offline.ownership(wrong(undefined)), 'the owners: object is an object'],
  [() => offline.blame(wrong('x')), 'object is an object, not "x"'],
  [() => offline.migrate(live, wrong({ too: 'x' })), 'migrate has no "too"'],
  [() => offline.createTwoWayPatch(wrong({}), {}, wrong(undefined)), 'createTwoWayPatch needs a type such as Deployment.type()'],
  [() => offline.createTwoWayPatch(type, {}, wrong(undefined)), 'modified is an object, not undefined'],
  [() => offline.createThreeWayPatch(wrong(states), wrong(undefined)), 'createThreeWayPatch needs a type'],
  [() => offline.createThreeWayPatch(type, wrong({ original: {}, modified: {} })), 'current is an object, not undefined'],
  [() => offline.createThreeWayPatch(type, states, wrong({ overwrite: 'no' })), 'overwrite is true or false, not "no"'],
  [() => offline.createThreeWayMergePatch(wrong({ ...states, live })), 'createThreeWayMergePatch has no "live"'],
  [() => offline.createMergePatch(wrong(undefined), {}), 'original is an object, not undefined'],
  [() => offline.strategicMergePatch(wrong(undefined), {}, {}), 'strategicMergePatch needs a type'],
]

it.each(cases)('case %#', (call, message) => {
  expect(call).toThrow(FieldManagerError)
  expect(call).toThrow(message)
})

describe('apply with a schema', () => {
  const written = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { template: { spec: { containers: [{ name: 'web', image: 'web:1' }] } } },
  }

  it('adds no member to the objects that it creates', () => {
    const { object } = offline.apply({ applied: written, manager: 'm', schema: source.struct('apps/v1.Deployment') })
    const { managedFields: _, ...metadata } = object.metadata as Record<string, unknown>
    expect({ ...object, metadata }).toEqual(written)
    expect(Object.keys(object)).toEqual(Object.keys(written))
  })

  it('may leave the name to the live object, and use another version of the kind', () => {
    const { name: _, ...metadata } = applied.metadata
    expect(offline.apply({ live, applied: { ...applied, metadata }, manager: 'm' }).conflicts).toEqual([])
    const next = { ...written, apiVersion: 'apps/v2' }
    expect(offline.apply({ live: written, applied: next, manager: 'm' }).conflicts).toEqual([])
  })
})
