import { describe, expect, it } from 'vitest'
import {
  MutatingWebhookConfiguration,
  type RuleWithOperations,
  type ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../group-versions/admissionregistration-v1.generated.ts'
import { base64, faults } from '../testing/objects.ts'

/** Webhook configurations. @see API protocol specification, 2.9 and 9.4 */

const hook: ValidatingWebhook = {
  name: 'a.example.com',
  clientConfig: { service: { namespace: 'n', name: 's' } },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const rule: RuleWithOperations = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }

const configuration = (...webhooks: object[]) =>
  ValidatingWebhookConfiguration.create({ metadata: { name: 'c' }, webhooks: webhooks as ValidatingWebhook[] })
const wrong = (change: object) =>
  faults(ValidatingWebhookConfiguration.validate(configuration({ ...hook, ...change }))).map((fault) =>
    fault.replace('webhooks[0].', ''),
  )
const wrongRule = (change: object) => wrong({ rules: [{ ...rule, ...change }] }).map((fault) => fault.replace('rules[0].', ''))
const withDefaults = (change: object) =>
  ValidatingWebhookConfiguration.default(configuration({ ...hook, ...change })).webhooks?.[0]

describe('webhook configurations', () => {
  it('are served in v1, mutating and validating ones [P61]', () => {
    for (const handle of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]) {
      expect([handle.group, handle.version, handle.namespaced]).toEqual(['admissionregistration.k8s.io', 'v1', false])
      expect(handle.validate({ ...configuration(hook), kind: handle.kind } as never)).toEqual([])
    }
  })

  it('require a DNS subdomain as name [P62]', () => {
    const named = (name: string) => faults(ValidatingWebhookConfiguration.validate({ ...configuration(), metadata: { name } }))
    expect([named('a.b-c'), named('A'), named('a_b')]).toEqual([[], ['metadata.name Invalid'], ['metadata.name Invalid']])
  })

  it('require unique webhook names of at least three domain labels [P63 P336]', () => {
    expect(faults(ValidatingWebhookConfiguration.validate(configuration(hook, hook)))).toEqual(['webhooks[1].name Duplicate'])
    expect(faults(ValidatingWebhookConfiguration.validate(configuration(hook, { ...hook, name: 'b.example.com' })))).toEqual([])
    for (const name of ['a', 'a.b', '', 'A.example.com']) expect(wrong({ name }), name).toHaveLength(1)
  })

  it('accept rules that name operations, or all of them [P64]', () => {
    for (const operations of [['CREATE', 'UPDATE', 'DELETE', 'CONNECT'], ['*']]) expect(wrongRule({ operations })).toEqual([])
    expect(wrongRule({ operations: ['*', 'CREATE'] })).toEqual(['operations Invalid'])
    expect(wrongRule({ operations: ['READ'] })).toEqual(['operations[0] NotSupported'])
    expect(wrongRule({ operations: [] })).toEqual(['operations Required'])
  })

  it('accept rules that name groups and versions, or all of them [P65]', () => {
    expect(wrongRule({ apiGroups: ['', 'apps'], apiVersions: ['v1', 'v1beta1'] })).toEqual([])
    expect(wrongRule({ apiGroups: ['*', 'apps'], apiVersions: ['*', 'v1'] })).toEqual([
      'apiGroups Invalid',
      'apiVersions Invalid',
    ])
    expect(wrongRule({ apiGroups: [], apiVersions: [''] })).toEqual(['apiGroups Required', 'apiVersions[0] Required'])
  })

  it('accept rules that name resources and sub-resources, with wildcards on either side [P66]', () => {
    for (const resources of [['*'], ['*/*'], ['pods', 'pods/*'], ['*/status'], ['pods/log', 'nodes']])
      expect(wrongRule({ resources }), resources.join()).toEqual([])
    expect(wrongRule({ resources: ['*/*', 'pods'] })).toEqual(['resources Invalid'])
    expect(wrongRule({ resources: ['pods/*', 'pods/log'] })).toEqual(['resources[1] Invalid'])
    expect(wrongRule({ resources: [] })).toEqual(['resources Required'])
  })

  it('default the scope of rules to all [P67]', () => {
    for (const scope of ['Cluster', 'Namespaced', '*']) expect(wrongRule({ scope })).toEqual([])
    expect(wrongRule({ scope: 'Global' })).toEqual(['scope NotSupported'])
    expect(withDefaults({ rules: [rule] })?.rules?.[0]?.scope).toBe('*')
  })

  it('accept selectors of labels; an absent one matches everything [P68 P70]', () => {
    for (const member of ['objectSelector', 'namespaceSelector']) {
      expect(withDefaults({})).toHaveProperty(member, {})
      expect(wrong({ [member]: { matchExpressions: [{ key: 'a', operator: 'In' }] } })).toEqual([
        `${member}.matchExpressions[0].values Required`,
      ])
    }
  })

  it('apply the defaults of webhooks [P73 P81 P82 P336]', () => {
    expect(withDefaults({})).toMatchObject({ matchPolicy: 'Equivalent', failurePolicy: 'Fail', timeoutSeconds: 10 })
    expect(wrong({ matchPolicy: 'Exact', failurePolicy: 'Ignore', timeoutSeconds: 30 })).toEqual([])
    expect(wrong({ matchPolicy: 'Some' })).toEqual(['matchPolicy NotSupported'])
    expect(wrong({ failurePolicy: 'Retry' })).toEqual(['failurePolicy NotSupported'])
    for (const timeoutSeconds of [0, -1, 31]) expect(wrong({ timeoutSeconds })).toEqual(['timeoutSeconds Invalid'])
  })

  it('require an https URL without user, query or fragment [P74]', () => {
    const address = (url: string) => wrong({ clientConfig: { url } })
    expect(address('https://hooks.example.com:8443/path')).toEqual([])
    for (const url of [
      'http://a.example.com',
      'https://',
      'https://u@a.example.com',
      'https://a.example.com/?q',
      'https://a.example.com/#f',
      '%',
    ])
      expect(address(url)[0], url).toMatch(/^clientConfig\.url (Invalid|Required)$/)
    expect(wrong({ clientConfig: {} })).toEqual(['clientConfig Required'])
    expect(wrong({ clientConfig: { ...hook.clientConfig, url: 'https://a.example.com' } })).toEqual(['clientConfig Required'])
  })

  it('require namespace and name of a service and default its port to 443 [P75 P76]', () => {
    expect(wrong({ clientConfig: { service: {} } })).toEqual([
      'clientConfig.service.name Required',
      'clientConfig.service.namespace Required',
    ])
    const service = { namespace: 'n', name: 's' }
    expect(withDefaults({})?.clientConfig?.service).toEqual({ ...service, port: 443 })
    expect(wrong({ clientConfig: { service: { ...service, port: 0 } } })).toEqual(['clientConfig.service.port Invalid'])
    for (const path of ['/', '/a/b']) expect(wrong({ clientConfig: { service: { ...service, path } } }), path).toEqual([])
    for (const path of ['a', '//', '/a//b', '/A_'])
      expect(wrong({ clientConfig: { service: { ...service, path } } })[0], path).toBe('clientConfig.service.path Invalid')
  })

  it('keep caBundle as bytes [P77]', () => {
    const caBundle = base64('-----BEGIN CERTIFICATE-----\n')
    expect(withDefaults({ clientConfig: { ...hook.clientConfig, caBundle } })?.clientConfig?.caBundle).toBe(caBundle)
  })

  it('require a list of review versions with a known one [P78 P336]', () => {
    expect(wrong({ admissionReviewVersions: [] })).toEqual(['admissionReviewVersions Required'])
    expect(wrong({ admissionReviewVersions: ['v9'] })).toEqual(['admissionReviewVersions Invalid'])
    expect(wrong({ admissionReviewVersions: ['v9', 'v1beta1'] })).toEqual([])
    expect(wrong({ admissionReviewVersions: ['v1', 'v1'] })).toEqual(['admissionReviewVersions[1] Invalid'])
  })

  it('require sideEffects None or NoneOnDryRun [P80 P336]', () => {
    expect([wrong({ sideEffects: 'None' }), wrong({ sideEffects: 'NoneOnDryRun' })]).toEqual([[], []])
    for (const sideEffects of ['Some', 'Unknown', 'Many']) expect(wrong({ sideEffects })).toEqual(['sideEffects NotSupported'])
    const { sideEffects: _, ...without } = hook
    expect(faults(ValidatingWebhookConfiguration.validate(configuration(without)))).toEqual(['webhooks[0].sideEffects Required'])
  })

  it('default reinvocationPolicy to Never [P83]', () => {
    const mutating = (change: object) =>
      MutatingWebhookConfiguration.create({ metadata: { name: 'c' }, webhooks: [{ ...hook, ...change }] })
    expect(MutatingWebhookConfiguration.default(mutating({})).webhooks?.[0]?.reinvocationPolicy).toBe('Never')
    expect(MutatingWebhookConfiguration.validate(mutating({ reinvocationPolicy: 'IfNeeded' }))).toEqual([])
    expect(faults(MutatingWebhookConfiguration.validate(mutating({ reinvocationPolicy: 'Twice' })))).toEqual([
      'webhooks[0].reinvocationPolicy NotSupported',
    ])
  })
})
