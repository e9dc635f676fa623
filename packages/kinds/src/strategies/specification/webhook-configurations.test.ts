import { describe, expect, it } from 'vitest'
import {
  MutatingWebhookConfiguration,
  type RuleWithOperations,
  type ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../handles/admissionregistration-v1.generated.ts'
import { base64, faults } from '../testing/objects.ts'

/** Configurations of webhooks. @see API protocol specification, 2.9 and 9.4 */

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
const completed = (change: object) => ValidatingWebhookConfiguration.default(configuration({ ...hook, ...change })).webhooks?.[0]

describe('configurations of webhooks', () => {
  it('P61 there are mutating and validating ones, in v1', () => {
    for (const handle of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]) {
      expect([handle.group, handle.version, handle.namespaced]).toEqual(['admissionregistration.k8s.io', 'v1', false])
      expect(handle.validate({ ...configuration(hook), kind: handle.kind } as never)).toEqual([])
    }
  })

  it('P62 their name is a DNS subdomain', () => {
    const named = (name: string) => faults(ValidatingWebhookConfiguration.validate({ ...configuration(), metadata: { name } }))
    expect([named('a.b-c'), named('A'), named('a_b')]).toEqual([[], ['metadata.name Invalid'], ['metadata.name Invalid']])
  })

  it('P63 P336 names of webhooks are domains with three parts, each once', () => {
    expect(faults(ValidatingWebhookConfiguration.validate(configuration(hook, hook)))).toEqual(['webhooks[1].name Duplicate'])
    expect(faults(ValidatingWebhookConfiguration.validate(configuration(hook, { ...hook, name: 'b.example.com' })))).toEqual([])
    for (const name of ['a', 'a.b', '', 'A.example.com']) expect(wrong({ name }), name).toHaveLength(1)
  })

  it('P64 rules name operations, or all of them', () => {
    for (const operations of [['CREATE', 'UPDATE', 'DELETE', 'CONNECT'], ['*']]) expect(wrongRule({ operations })).toEqual([])
    expect(wrongRule({ operations: ['*', 'CREATE'] })).toEqual(['operations Invalid'])
    expect(wrongRule({ operations: ['READ'] })).toEqual(['operations[0] NotSupported'])
    expect(wrongRule({ operations: [] })).toEqual(['operations Required'])
  })

  it('P65 rules name groups and versions, or all of them', () => {
    expect(wrongRule({ apiGroups: ['', 'apps'], apiVersions: ['v1', 'v1beta1'] })).toEqual([])
    expect(wrongRule({ apiGroups: ['*', 'apps'], apiVersions: ['*', 'v1'] })).toEqual([
      'apiGroups Invalid',
      'apiVersions Invalid',
    ])
    expect(wrongRule({ apiGroups: [], apiVersions: [''] })).toEqual(['apiGroups Required', 'apiVersions[0] Required'])
  })

  it('P66 rules name resources and sub-resources, with wildcards on either side', () => {
    for (const resources of [['*'], ['*/*'], ['pods', 'pods/*'], ['*/status'], ['pods/log', 'nodes']])
      expect(wrongRule({ resources }), resources.join()).toEqual([])
    expect(wrongRule({ resources: ['*/*', 'pods'] })).toEqual(['resources Invalid'])
    expect(wrongRule({ resources: ['pods/*', 'pods/log'] })).toEqual(['resources[1] Invalid'])
    expect(wrongRule({ resources: [] })).toEqual(['resources Required'])
  })

  it('P67 rules may be limited to one scope; they are not unless they say so', () => {
    for (const scope of ['Cluster', 'Namespaced', '*']) expect(wrongRule({ scope })).toEqual([])
    expect(wrongRule({ scope: 'Global' })).toEqual(['scope NotSupported'])
    expect(completed({ rules: [rule] })?.rules?.[0]?.scope).toBe('*')
  })

  it('P68 P70 selectors look at labels; an absent one matches everything', () => {
    for (const member of ['objectSelector', 'namespaceSelector']) {
      expect(completed({})).toHaveProperty(member, {})
      expect(wrong({ [member]: { matchExpressions: [{ key: 'a', operator: 'In' }] } })).toEqual([
        `${member}.matchExpressions[0].values Required`,
      ])
    }
  })

  it('P73 P81 P82 P336 what a webhook does unless it says otherwise', () => {
    expect(completed({})).toMatchObject({ matchPolicy: 'Equivalent', failurePolicy: 'Fail', timeoutSeconds: 10 })
    expect(wrong({ matchPolicy: 'Exact', failurePolicy: 'Ignore', timeoutSeconds: 30 })).toEqual([])
    expect(wrong({ matchPolicy: 'Some' })).toEqual(['matchPolicy NotSupported'])
    expect(wrong({ failurePolicy: 'Retry' })).toEqual(['failurePolicy NotSupported'])
    for (const timeoutSeconds of [0, -1, 31]) expect(wrong({ timeoutSeconds })).toEqual(['timeoutSeconds Invalid'])
  })

  it('P74 an address is https, and has no user, query or fragment', () => {
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

  it('P75 P76 a service has a namespace and a name, and port 443 unless it says otherwise', () => {
    expect(wrong({ clientConfig: { service: {} } })).toEqual([
      'clientConfig.service.name Required',
      'clientConfig.service.namespace Required',
    ])
    const service = { namespace: 'n', name: 's' }
    expect(completed({})?.clientConfig?.service).toEqual({ ...service, port: 443 })
    expect(wrong({ clientConfig: { service: { ...service, port: 0 } } })).toEqual(['clientConfig.service.port Invalid'])
    for (const path of ['/', '/a/b']) expect(wrong({ clientConfig: { service: { ...service, path } } }), path).toEqual([])
    for (const path of ['a', '//', '/a//b', '/A_'])
      expect(wrong({ clientConfig: { service: { ...service, path } } })[0], path).toBe('clientConfig.service.path Invalid')
  })

  it('P77 caBundle is bytes, kept as they are', () => {
    const caBundle = base64('-----BEGIN CERTIFICATE-----\n')
    expect(completed({ clientConfig: { ...hook.clientConfig, caBundle } })?.clientConfig?.caBundle).toBe(caBundle)
  })

  it('P78 P336 the versions of reviews are listed, and the server knows one', () => {
    expect(wrong({ admissionReviewVersions: [] })).toEqual(['admissionReviewVersions Required'])
    expect(wrong({ admissionReviewVersions: ['v9'] })).toEqual(['admissionReviewVersions Invalid'])
    expect(wrong({ admissionReviewVersions: ['v9', 'v1beta1'] })).toEqual([])
    expect(wrong({ admissionReviewVersions: ['v1', 'v1'] })).toEqual(['admissionReviewVersions[1] Invalid'])
  })

  it('P80 P336 sideEffects are none, or none in dry runs', () => {
    expect([wrong({ sideEffects: 'None' }), wrong({ sideEffects: 'NoneOnDryRun' })]).toEqual([[], []])
    for (const sideEffects of ['Some', 'Unknown', 'Many']) expect(wrong({ sideEffects })).toEqual(['sideEffects NotSupported'])
    const { sideEffects: _, ...without } = hook
    expect(faults(ValidatingWebhookConfiguration.validate(configuration(without)))).toEqual(['webhooks[0].sideEffects Required'])
  })

  it('P83 a mutating webhook is called once unless it says IfNeeded', () => {
    const mutating = (change: object) =>
      MutatingWebhookConfiguration.create({ metadata: { name: 'c' }, webhooks: [{ ...hook, ...change }] })
    expect(MutatingWebhookConfiguration.default(mutating({})).webhooks?.[0]?.reinvocationPolicy).toBe('Never')
    expect(MutatingWebhookConfiguration.validate(mutating({ reinvocationPolicy: 'IfNeeded' }))).toEqual([])
    expect(faults(MutatingWebhookConfiguration.validate(mutating({ reinvocationPolicy: 'Twice' })))).toEqual([
      'webhooks[0].reinvocationPolicy NotSupported',
    ])
  })
})
