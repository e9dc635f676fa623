import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes, ObjectConvertor } from '../interfaces.ts'
import { attributesOf, contextOf } from '../testing/request.ts'
import { hooksOf } from './hook.ts'
import { HookTable } from './hook-table.ts'
import { SelectorMatcher } from './selector-matcher.ts'

const context = contextOf({
  'namespaces//shop': { metadata: { name: 'shop', labels: { team: 'a' } } },
  'namespaces//plain': { metadata: { name: 'plain' } },
})
const hook = (members: object) => {
  const [made] = hooksOf({ apiVersion: 'v1', kind: 'X', metadata: { name: 'c' }, webhooks: [{ name: 'h', ...members }] } as never)
  if (made === undefined) throw new Error('no webhook')
  return made
}
const configMap = (labels?: Record<string, string>): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...(labels === undefined ? {} : { labels }) },
})
const inShop = attributesOf('configmaps', { namespace: 'shop' })
const selected = (members: object, object: ApiObject | undefined, attributes: AdmissionAttributes = inShop) =>
  new SelectorMatcher(attributes, context).matches(hook(members), object)

describe('object selectors', () => {
  const wanted = { objectSelector: { matchLabels: { t: 'yes' } } }

  it('P68 pick an object by its labels before or after the change', () => {
    const update = (labels: Record<string, string>) => ({ ...inShop, operation: 'UPDATE' as const, oldObject: configMap(labels) })
    expect(selected(wanted, configMap({ t: 'yes' }))).toBe(true)
    expect(selected(wanted, configMap({ t: 'no' }))).toBe(false)
    expect(selected(wanted, configMap({ t: 'no' }), update({ t: 'yes' }))).toBe(true)
    expect(selected(wanted, configMap({ t: 'yes' }), update({}))).toBe(true)
    expect(selected(wanted, undefined, { ...update({ t: 'yes' }), operation: 'DELETE' })).toBe(true)
  })

  it('P69 pick nothing that is absent or cannot have labels, also when they ask for the absence of one', () => {
    const absent = { objectSelector: { matchExpressions: [{ key: 't', operator: 'DoesNotExist' }] } }
    const options = { kind: 'PodExecOptions', apiVersion: 'v1' } as unknown as ApiObject
    expect(selected(absent, configMap())).toBe(true)
    expect(selected(absent, undefined)).toBe(false)
    expect(selected(absent, options)).toBe(false)
  })

  it('P68 an empty selector picks everything', () => {
    expect(selected({}, undefined)).toBe(true)
    expect(selected({ objectSelector: {} }, configMap())).toBe(true)
  })

  it('one that cannot be read refuses', () => {
    const broken = { objectSelector: { matchExpressions: [{ key: 't', operator: 'Near' }] } }
    expect(() => selected(broken, configMap())).toThrow(expect.objectContaining({ code: 500 }))
  })
})

describe('namespace selectors', () => {
  const wanted = { namespaceSelector: { matchLabels: { team: 'a' } } }
  const ofNamespace = (operation: AdmissionAttributes['operation']) => attributesOf('namespaces', { name: 'shop', operation })
  const namespace = (labels?: Record<string, string>) => ({ ...configMap(labels), kind: 'Namespace' })

  it('P70 pick objects by the labels of their namespace', () => {
    expect(selected(wanted, configMap())).toBe(true)
    expect(selected(wanted, configMap(), { ...inShop, namespace: 'plain' })).toBe(false)
  })

  it('P71 pick a namespace by the labels that it will have, and one that goes by those it has', () => {
    expect(selected(wanted, namespace({ team: 'a' }), { ...ofNamespace('CREATE'), name: 'new' })).toBe(true)
    expect(selected(wanted, namespace(), ofNamespace('UPDATE'))).toBe(false)
    expect(selected(wanted, undefined, ofNamespace('DELETE'))).toBe(true)
  })

  it('P72 let every other cluster-scoped object pass', () => {
    expect(selected(wanted, configMap(), attributesOf('nodes'))).toBe(true)
  })

  it('P70 a namespace that is missing is not found, where a webhook asks for its labels', () => {
    const nowhere = { ...inShop, namespace: 'gone' }
    expect(() => selected(wanted, configMap(), nowhere)).toThrow(expect.objectContaining({ code: 404 }))
    expect(selected({}, configMap(), nowhere)).toBe(true)
    expect(selected({ ...wanted, objectSelector: { matchLabels: { t: 'x' } } }, configMap(), nowhere)).toBe(false)
  })
})

describe('tables of webhooks', () => {
  const at = (version: string) => ({
    resource: { group: 'shop.example.com', version, resource: 'widgets' },
    kind: { group: 'shop.example.com', version, kind: 'Widget' },
  })
  const convertor: ObjectConvertor = {
    served: 1,
    equivalents: () => [at('v1'), at('v2')],
    toVersion: (object) => object,
    fromVersion: (value) => ({ object: value as unknown as ApiObject, versioned: value as unknown as ApiObject }),
  }
  const tableOf = (...hooks: object[]) =>
    new HookTable([{ apiVersion: 'v1', kind: 'X', metadata: { name: 'c' }, webhooks: hooks } as never])
  const rules = (version: string) => [
    { operations: ['*'], apiGroups: ['shop.example.com'], apiVersions: [version], resources: ['widgets'] },
  ]
  const attributes = attributesOf('widgets', { ...at('v1'), namespace: 'shop' })

  it('P73 by default a rule for another version covers a request, which is then shown in that version', () => {
    const [found] = tableOf({ name: 'h', rules: rules('v2') }).invocations(attributes, convertor)
    expect(found).toMatchObject({ index: 0, version: at('v2') })
  })

  it('P44 P73 a rule for the version of the request is taken first, whatever stands before it', () => {
    const table = tableOf({ name: 'h', rules: [...rules('v2'), ...rules('v1')] })
    expect(table.invocations(attributes, convertor)[0]?.version).toEqual(at('v1'))
    expect(tableOf({ name: 'h', rules: rules('*') }).invocations(attributes, convertor)[0]?.version).toEqual(at('v1'))
  })

  it('P73 exact rules cover what they name', () => {
    expect(tableOf({ name: 'h', rules: rules('v2'), matchPolicy: 'Exact' }).invocations(attributes, convertor)).toEqual([])
  })

  it('what covers a request is found once, and again when other resources are served', () => {
    const table = tableOf({ name: 'h', rules: rules('v2') })
    const first = table.invocations(attributes, convertor)
    expect(table.invocations(attributes, convertor)).toBe(first)
    expect(table.invocations(attributes, { ...convertor, served: 2, equivalents: () => [at('v1')] })).toEqual([])
  })

  it('webhooks of equal names are told apart', () => {
    const { hooks } = tableOf({ name: 'h' }, { name: 'h' }, { name: 'i' })
    expect(hooks.map(({ uid }) => uid)).toEqual(['c/h/0', 'c/h/1', 'c/i/0'])
  })

  it('P81 P82 P83 what a configuration leaves out has a default', () => {
    expect(hook({})).toMatchObject({ timeoutMs: 10_000, failurePolicy: 'Fail', equivalent: true, reinvocable: false })
  })
})
