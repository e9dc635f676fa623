import { formatFieldErrors } from '@krmkit/meta/validation'
import { expect, it } from 'vitest'
import { parseEncryptionConfiguration } from './configuration.ts'
import { validateEncryptionConfiguration } from './validate.ts'

const secret = Buffer.alloc(32, 1).toString('base64')
const keys = (...given: readonly object[]) => ({ keys: given })
const good = { aesgcm: keys({ name: 'a', secret }) }
const kms = (changes: object) => ({ kms: { apiVersion: 'v2', name: 'k', endpoint: 'unix:///run/kms.sock', ...changes } })
const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' }
const problems = (resources: unknown) =>
  formatFieldErrors(validateEncryptionConfiguration(parseEncryptionConfiguration({ ...head, resources })))
const withNames = (...resources: readonly string[]) => [{ resources, providers: [good] }]
const withProvider = (...providers: readonly object[]) => [{ resources: ['secrets'], providers }]
const of = 'resources[0].resources'
const provider = 'resources[0].providers[0]'

it.each<[unknown, string]>([
  [withNames('secrets', 'widgets.example.com'), ''],
  [withNames('*.*'), ''],
  [withProvider({ identity: {} }, { aescbc: keys({ name: 'a', secret }) }, { secretbox: keys({ name: 'a', secret }) }), ''],
  [[], 'resources: Required value: at least one resources is required'],
  [[{ resources: [], providers: [good] }], `${of}: Required value: at least one ${of} is required`],
  [
    [{ resources: ['secrets'], providers: [] }],
    'resources[0].providers: Required value: at least one resources[0].providers is required',
  ],
  [
    withNames('secrets', 'secrets'),
    `${of}: Invalid value: []string{"secrets", "secrets"}: the same resource cannot be specified multiple times`,
  ],
  [
    withNames('secrets', '*.'),
    `${of}: Invalid value: []string{"secrets", "*."}: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked`,
  ],
  [withNames('Secrets'), `${of}[0]: Invalid value: "Secrets": resource name should not contain capital letters`],
  [
    withNames('*'),
    `${of}[0]: Invalid value: "*": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources`,
  ],
  [
    withNames('apiserveripinfo'),
    `${of}[0]: Invalid value: "apiserveripinfo": resources which do not have REST API/s cannot be encrypted`,
  ],
  [
    withNames('events.events.k8s.io'),
    `${of}[0]: Invalid value: "events.events.k8s.io": '*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file`,
  ],
  [
    withNames('ingresses.extensions'),
    `${of}[0]: Invalid value: "ingresses.extensions": 'extensions' group has been removed and cannot be used for encryption`,
  ],
  [withNames('secrets.*'), `${of}[0]: Invalid value: "secrets.*": encrypting the same resource across groups is not supported`],
  [
    withProvider({}),
    `${provider}: Invalid value: "REDACTED": provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity`,
  ],
  [
    withProvider({ ...good, identity: {} }),
    `${provider}: Invalid value: "REDACTED": more than one provider specified in a single element, should split into different list elements`,
  ],
  [withProvider(kms({ name: '' })), `${provider}.kms.name: Required value: name is a mandatory field for a provider`],
  [
    withProvider(kms({ name: 'a:b' })),
    `${provider}.kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'`,
  ],
  [withProvider(kms({ timeout: '0s' })), `${provider}.kms.timeout: Invalid value: 0s: timeout should be a positive value`],
  [withProvider(kms({ endpoint: '' })), `${provider}.kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms`],
  [
    withProvider(kms({ endpoint: 'http://127.0.0.1' })),
    `${provider}.kms.endpoint: Invalid value: "http://127.0.0.1": unsupported scheme "http" for KMS provider, only unix is supported`,
  ],
  [
    withProvider(kms({ apiVersion: 'v1' })),
    `${provider}.kms.apiVersion: Invalid value: "v1": unsupported apiVersion v1 for KMS provider, only v2 is supported`,
  ],
  [withProvider({ aesgcm: {} }), `${provider}.aesgcm.keys: Required value: at least one keys is required`],
  [
    withProvider({ aesgcm: keys({ secret }) }),
    `${provider}.aesgcm.keys[0].name: Required value: name is a mandatory field for a key`,
  ],
  [
    withProvider({ aescbc: keys({ name: 'a' }) }),
    `${provider}.aescbc.keys[0].secret: Required value: secret is a mandatory field for a key`,
  ],
  [
    withProvider({ aesgcm: keys({ name: 'a', secret: 'not-base64' }) }),
    `${provider}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
  ],
  [
    withProvider({ aesgcm: keys({ name: 'a', secret: 'YWJj' }) }),
    `${provider}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [16 24 32]`,
  ],
  [
    withProvider({ secretbox: keys({ name: 'a', secret: Buffer.alloc(16, 1).toString('base64') }) }),
    `${provider}.secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32]`,
  ],
])('validates %j', (resources, message) => {
  expect(problems(resources)).toBe(message)
})

it.each<[object, string]>([
  [{ ...head, kind: 'Other' }, 'no kind "Other" is registered for version "apiserver.config.k8s.io/v1"'],
  [{ ...head, resource: [] }, 'strict decoding error: unknown field "resource"'],
  [{ resources: [] }, "Object 'Kind' is missing"],
])('rejects %j', (value, message) => {
  expect(() => parseEncryptionConfiguration(value)).toThrow(`error decoding encryption provider configuration file: ${message}`)
})
