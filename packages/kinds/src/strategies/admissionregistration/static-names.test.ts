import { type ApiObject, createFeatures } from '@krmkit/meta'
import { expect, it } from 'vitest'
import type { Strategy } from '../../interfaces.ts'
import type { ValidatingWebhookConfiguration } from '../../types/admissionregistration-v1.generated.ts'
import { runValidation } from '../../validation.ts'
import { testContext } from '../testing/context.ts'
import { mutatingAdmissionPolicyBindingStrategy } from './mutating-admission-policy/strategy.ts'
import { validatingAdmissionPolicyBindingStrategy } from './validating-admission-policy/strategy.ts'
import { mutatingWebhookConfigurationStrategy, validatingWebhookConfigurationStrategy } from './webhook-configuration/strategy.ts'

const text =
  'names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API'
const invalid = `metadata.name: Invalid value: "a.static.k8s.io": ${text}`
const inRelease = (release: string, gates: Record<string, boolean> = {}) => ({
  ...testContext(),
  features: createFeatures(release, gates),
})

it.each([
  ['mutating webhooks', mutatingWebhookConfigurationStrategy],
  ['validating webhooks', validatingWebhookConfigurationStrategy],
  ['mutating bindings', mutatingAdmissionPolicyBindingStrategy],
  ['validating bindings', validatingAdmissionPolicyBindingStrategy],
] as readonly [string, Strategy][])('reserved names of %s are refused where files may hold the objects', (_, strategy) => {
  const object: ApiObject = { apiVersion: 'v1', kind: 'K', metadata: { name: 'a.static.k8s.io' } }
  const refusals = (context: ReturnType<typeof testContext>) =>
    runValidation(strategy.validate?.(object, context)).map(({ field, message }) => `${field}: ${message}`)
  expect(refusals(inRelease('1.37'))).toContain(invalid)
  expect(refusals(inRelease('1.36'))).not.toContain(invalid)
  const warnings = (context: ReturnType<typeof testContext>, old?: ApiObject) => strategy.warnings?.(object, old, context)
  const warned = [`metadata.name: ${text}`]
  expect(warnings(inRelease('1.37'))).toEqual([])
  expect(warnings(inRelease('1.37'), object)).toEqual(warned)
  expect(warnings(inRelease('1.37', { ManifestBasedAdmissionControlConfig: false }))).toEqual(warned)
  expect(warnings(inRelease('1.36'))).toEqual(warned)
  expect(warnings(inRelease('1.35'), object)).toEqual([])
})

it('rules that name reviews have a warning where webhooks do not receive them', () => {
  const hook = (apiGroups: string[], resources: string[]) => ({ rules: [{ apiGroups, resources }] })
  const configuration = {
    metadata: { name: 'a' },
    webhooks: [
      hook(['authentication.k8s.io', 'authorization.k8s.io'], ['tokenreviews', 'subjectaccessreviews', 'tokenreviews']),
      hook(['*'], ['tokenreviews']),
      hook(['authorization.k8s.io'], ['*']),
      hook(['authentication.k8s.io'], ['tokenreviews/status', 'selfsubjectreviews']),
    ],
  } as unknown as ValidatingWebhookConfiguration
  const warnings = (release: string) =>
    validatingWebhookConfigurationStrategy.warnings?.(configuration, undefined, inRelease(release))
  const excluded = (at: string, name: string) =>
    `${at}: ${name} is excluded from admission webhooks; this rule will have no effect`
  expect(warnings('1.37')).toEqual([
    excluded('webhooks[0].rules[0]', 'tokenreviews.authentication.k8s.io'),
    excluded('webhooks[0].rules[0]', 'subjectaccessreviews.authorization.k8s.io'),
    excluded('webhooks[3].rules[0]', 'selfsubjectreviews.authentication.k8s.io'),
  ])
  expect(warnings('1.36')).toEqual([])
})
