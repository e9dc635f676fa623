/** Environment variables of containers. */
import { validateConfigMapKey, validateDns1123Subdomain, validateEnvVarName, validateRelaxedEnvVarName } from '@krmkit/meta'
import type { EnvFromSource, EnvVar, EnvVarSource } from '../../types/core-v1.generated.ts'
import { checkFieldRef, checkResourceFieldRef } from './downward.ts'
import type { FieldPath } from './field-path.ts'
import { checkDnsSubdomain } from './names.ts'
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
export function checkEnv(vars: readonly R<EnvVar>[] | null | undefined, at: FieldPath): void {
  for (const [i, variable] of (vars ?? []).entries()) {
    const here = at.index(i)
    if (isEmpty(variable.name)) here.child('name').required()
    else checkEnvName(variable.name, here.child('name'))
    if (isSet(variable.valueFrom)) checkEnvSource(variable, variable.valueFrom, here.child('valueFrom'))
  }
}

/** Since 1.32 a name may hold any printable ASCII character but the equals sign. */
function checkEnvName(name: string, at: FieldPath): void {
  const relaxed = at.report.context.features.release.atLeast('1.32')
  at.invalidAll(name, relaxed ? validateRelaxedEnvVarName(name) : validateEnvVarName(name))
}

function checkEnvSource(variable: R<EnvVar>, source: R<EnvVarSource>, at: FieldPath): void {
  let sources = 0
  if (isSet(source.fieldRef)) {
    sources++
    checkFieldRef(source.fieldRef, at.child('fieldRef'), envFields)
  }
  if (isSet(source.resourceFieldRef)) {
    sources++
    checkResourceFieldRef(source.resourceFieldRef, at.child('resourceFieldRef'), {
      allowed: envResources,
      containerRequired: false,
    })
  }
  if (isSet(source.configMapKeyRef)) {
    sources++
    checkKeyRef(source.configMapKeyRef, at.child('configMapKeyRef'))
  }
  if (isSet(source.secretKeyRef)) {
    sources++
    checkKeyRef(source.secretKeyRef, at.child('secretKeyRef'))
  }
  if (sources === 0) at.invalid('', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`')
  if (!isEmpty(variable.value)) {
    if (sources > 0) at.invalid('', 'may not be specified when `value` is not empty')
  } else if (sources > 1) at.invalid('', tooManySources)
}

function checkKeyRef(ref: { readonly name?: string; readonly key?: string }, at: FieldPath): void {
  const name = ref.name ?? ''
  at.child('name').invalidAll(name, validateDns1123Subdomain(name))
  if (isEmpty(ref.key)) at.child('key').required()
  else at.child('key').invalidAll(ref.key, validateConfigMapKey(ref.key))
}

/** `envFrom` of a container. Findings about the number of sources are told of the list, as the stock server does. */
export function checkEnvFrom(sources: readonly R<EnvFromSource>[] | null | undefined, at: FieldPath): void {
  for (const [i, source] of (sources ?? []).entries()) {
    const here = at.index(i)
    if (!isEmpty(source.prefix)) checkEnvName(source.prefix, here.child('prefix'))
    if (isSet(source.configMapRef)) checkRequiredName(source.configMapRef.name, here.child('configMapRef').child('name'))
    if (isSet(source.secretRef)) checkRequiredName(source.secretRef.name, here.child('secretRef').child('name'))
    if (!isSet(source.configMapRef) && !isSet(source.secretRef))
      at.invalid('', 'must specify one of: `configMapRef` or `secretRef`')
    else if (isSet(source.configMapRef) && isSet(source.secretRef)) at.invalid('', tooManySources)
  }
}

function checkRequiredName(name: string | undefined, at: FieldPath): void {
  if (isEmpty(name)) at.required()
  else checkDnsSubdomain(name, at)
}
