/** Environment variables of containers. */

import type { Work } from '@krmkit/base/work'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { validateConfigMapKey, validateDns1123Subdomain, validateEnvVarName, validateRelaxedEnvVarName } from '@krmkit/meta/names'
import type { EnvFromSource, EnvVar, EnvVarSource } from '../../types/core-v1.generated.ts'
import { validateFieldRef, validateResourceFieldRef } from './downward.ts'
import { fileKeyRefOf, validateFileKeyRef } from './env-files.ts'
import type { FieldPath } from './field-path.ts'
import { forEachItem } from './for-each.ts'
import { validateDnsSubdomain } from './names.ts'
import { isEmpty, isSet, type R } from './values.ts'

const envFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
const envResources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const tooManySources = 'may not have more than one field specified at a time'

/** `env` of a container. */
export function* validateEnv(vars: readonly R<EnvVar>[] | null | undefined, at: FieldPath): Work {
  yield* forEachItem(vars, (variable, i) => {
    const here = at.index(i)
    if (isEmpty(variable.name)) here.child('name').required()
    else validateEnvName(variable.name, here.child('name'))
    if (isSet(variable.valueFrom)) validateEnvSource(variable, variable.valueFrom, here.child('valueFrom'))
  })
}

/** Since 1.32 names may contain any printable ASCII character except the equals sign. */
function validateEnvName(name: string, at: FieldPath): void {
  const relaxed = gateEnabled('RelaxedEnvironmentVariableValidation', at.errors.context.features)
  at.invalidAll(name, relaxed ? validateRelaxedEnvVarName(name) : validateEnvVarName(name))
}

function validateEnvSource(variable: R<EnvVar>, source: R<EnvVarSource>, at: FieldPath): void {
  let sources = 0
  if (isSet(source.fieldRef)) {
    sources++
    validateFieldRef(source.fieldRef, at.child('fieldRef'), envFields)
  }
  if (isSet(source.resourceFieldRef)) {
    sources++
    validateResourceFieldRef(source.resourceFieldRef, at.child('resourceFieldRef'), {
      allowed: envResources,
      containerRequired: false,
    })
  }
  if (isSet(source.configMapKeyRef)) {
    sources++
    validateKeyRef(source.configMapKeyRef, at.child('configMapKeyRef'))
  }
  if (isSet(source.secretKeyRef)) {
    sources++
    validateKeyRef(source.secretKeyRef, at.child('secretKeyRef'))
  }
  const fileKeyRef = fileKeyRefOf(source)
  if (fileKeyRef !== undefined) {
    sources++
    validateFileKeyRef(fileKeyRef, at.child('fileKeyRef'))
  }
  const names = gateEnabled('EnvFiles', at.errors.context.features)
    ? '`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    : '`configMapKeyRef` or `secretKeyRef`'
  if (sources === 0) at.invalid('', `must specify one of: \`fieldRef\`, \`resourceFieldRef\`, ${names}`)
  if (!isEmpty(variable.value)) {
    if (sources > 0) at.invalid('', 'may not be specified when `value` is not empty')
  } else if (sources > 1) at.invalid('', tooManySources)
}

function validateKeyRef(ref: { readonly name?: string; readonly key?: string }, at: FieldPath): void {
  const name = ref.name ?? ''
  at.child('name').invalidAll(name, validateDns1123Subdomain(name))
  if (isEmpty(ref.key)) at.child('key').required()
  else at.child('key').invalidAll(ref.key, validateConfigMapKey(ref.key))
}

/** `envFrom` of a container. Errors about the number of sources have the path of the list, as on kube-apiserver. */
export function* validateEnvFrom(sources: readonly R<EnvFromSource>[] | null | undefined, at: FieldPath): Work {
  yield* forEachItem(sources, (source, i) => {
    const here = at.index(i)
    if (!isEmpty(source.prefix)) validateEnvName(source.prefix, here.child('prefix'))
    if (isSet(source.configMapRef)) validateRequiredName(source.configMapRef.name, here.child('configMapRef').child('name'))
    if (isSet(source.secretRef)) validateRequiredName(source.secretRef.name, here.child('secretRef').child('name'))
    if (!isSet(source.configMapRef) && !isSet(source.secretRef))
      at.invalid('', 'must specify one of: `configMapRef` or `secretRef`')
    else if (isSet(source.configMapRef) && isSet(source.secretRef)) at.invalid('', tooManySources)
  })
}

function validateRequiredName(name: string | undefined, at: FieldPath): void {
  if (isEmpty(name)) at.required()
  else validateDnsSubdomain(name, at)
}
