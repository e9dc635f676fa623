import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes, VersionConverter } from '../interfaces.ts'
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

  it('match the labels of the object or the old object [P68]', () => {
    const update = (labels: Record<string, string>) => ({ ...inShop, operation: 'UPDATE' as const, oldObject: configMap(labels) })
    expect(selected(wanted, configMap({ t: 'yes' }))).toBe(true)
    expect(selected(wanted, configMap({ t: 'no' }))).toBe(false)
    expect(selected(wanted, configMap({ t: 'no' }), update({ t: 'yes' }))).toBe(true)
    expect(selected(wanted, configMap({ t: 'yes' }), update({}))).toBe(true)
    expect(selected(wanted, undefined, { ...update({ t: 'yes' }), operation: 'DELETE' })).toBe(true)
  })

  it('do not match absent objects or objects without metadata [P69]', () => {
    const absent = { objectSelector: { matchExpressions: [{ key: 't', operator: 'DoesNotExist' }] } }
    const options = { kind: 'PodExecOptions', apiVersion: 'v1' } as unknown as ApiObject
    expect(selected(absent, configMap())).toBe(true)
    expect(selected(absent, undefined)).toBe(false)
    expect(selected(absent, options)).toBe(false)
  })

  it('match everything when empty [P68]', () => {
    expect(selected({}, undefined)).toBe(true)
    expect(selected({ objectSelector: {} }, configMap())).toBe(true)
  })

  it('fail when invalid', () => {
    const broken = { objectSelector: { matchExpressions: [{ key: 't', operator: 'Near' }] } }
    expect(() => selected(broken, configMap())).toThrow(expect.objectContaining({ code: 500 }))
  })
})

describe('namespace selectors', () => {
  const wanted = { namespaceSelector: { matchLabels: { team: 'a' } } }
  const ofNamespace = (operation: AdmissionAttributes['operation']) => attributesOf('namespaces', { name: 'shop', operation })
  const namespace = (labels?: Record<string, string>) => ({ ...configMap(labels), kind: 'Namespace' })

  it('match the labels of the namespace [P70]', () => {
    expect(selected(wanted, configMap())).toBe(true)
    expect(selected(wanted, configMap(), { ...inShop, namespace: 'plain' })).toBe(false)
  })

  it('match the new labels of a Namespace, and its stored labels on deletion [P71]', () => {
    expect(selected(wanted, namespace({ team: 'a' }), { ...ofNamespace('CREATE'), name: 'new' })).toBe(true)
    expect(selected(wanted, namespace(), ofNamespace('UPDATE'))).toBe(false)
    expect(selected(wanted, undefined, ofNamespace('DELETE'))).toBe(true)
  })

  it('match every other cluster-scoped object [P72]', () => {
    expect(selected(wanted, configMap(), attributesOf('nodes'))).toBe(true)
  })

  it('fail with 404 when the labels of a missing namespace are needed [P70]', () => {
    const nowhere = { ...inShop, namespace: 'gone' }
    expect(() => selected(wanted, configMap(), nowhere)).toThrow(expect.objectContaining({ code: 404 }))
    expect(selected({}, configMap(), nowhere)).toBe(true)
    expect(selected({ ...wanted, objectSelector: { matchLabels: { t: 'x' } } }, configMap(), nowhere)).toBe(false)
  })
})

describe('HookTable', () => {
  const at = (version: string) => ({
    resource: { group: 'shop.example.com', version, resource: 'widgets' },
    kind: { group: 'shop.example.com', version, kind: 'Widget' },
  })
  const versionConverter: VersionConverter = {
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

  it('matches equivalent versions by default, and uses the matched version [P73]', () => {
    const [found] = tableOf({ name: 'h', rules: rules('v2') }).invocations(attributes, versionConverter)
    expect(found).toMatchObject({ index: 0, version: at('v2') })
  })

  it("prefers a rule for the request's own version [P44, P73]", () => {
    const table = tableOf({ name: 'h', rules: [...rules('v2'), ...rules('v1')] })
    expect(table.invocations(attributes, versionConverter)[0]?.version).toEqual(at('v1'))
    expect(tableOf({ name: 'h', rules: rules('*') }).invocations(attributes, versionConverter)[0]?.version).toEqual(at('v1'))
  })

  it('matches only named versions with policy Exact [P73]', () => {
    expect(tableOf({ name: 'h', rules: rules('v2'), matchPolicy: 'Exact' }).invocations(attributes, versionConverter)).toEqual([])
  })

  it('caches matches until the served resources change', () => {
    const table = tableOf({ name: 'h', rules: rules('v2') })
    const first = table.invocations(attributes, versionConverter)
    expect(table.invocations(attributes, versionConverter)).toBe(first)
    expect(table.invocations(attributes, { ...versionConverter, served: 2, equivalents: () => [at('v1')] })).toEqual([])
  })

  it('gives webhooks of equal names different uids', () => {
    const { hooks } = tableOf({ name: 'h' }, { name: 'h' }, { name: 'i' })
    expect(hooks.map(({ uid }) => uid)).toEqual(['c/h/0', 'c/h/1', 'c/i/0'])
  })

  it('applies the defaults of a configuration [P81, P82, P83]', () => {
    expect(hook({})).toMatchObject({ timeoutMs: 10_000, failurePolicy: 'Fail', equivalent: true, reinvocable: false })
  })
})
