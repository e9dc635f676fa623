/** Downward API: references from files and variables to fields of the pod. */
import type { ObjectFieldSelector, ResourceFieldSelector } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { validateQualifiedName } from './names.ts'
import { amount, sign } from './quantities.ts'
import { isEmpty, type R } from './values.ts'

const knownFields = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
])

const byteDivisors = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei'
const byteDivisorSet = new Set(byteDivisors.split(', '))
const cpuDivisorSet = new Set(['1m', '1'])

/** Splits a path such as `metadata.labels['app']`; undefined without a subscript. */
function splitSubscript(path: string): { readonly path: string; readonly key: string } | undefined {
  if (!path.endsWith("']")) return undefined
  const open = path.indexOf("['")
  if (open <= 0) return undefined
  return { path: path.slice(0, open), key: path.slice(open + 2, -2) }
}

/** A `fieldRef` to one of the fields `allowed`. */
export function validateFieldRef(ref: R<ObjectFieldSelector>, at: FieldPath, allowed: readonly string[]): void {
  if (isEmpty(ref.apiVersion)) {
    at.child('apiVersion').required()
    return
  }
  if (isEmpty(ref.fieldPath)) {
    at.child('fieldPath').required()
    return
  }
  const problem = conversionProblem(ref.apiVersion, ref.fieldPath)
  if (problem !== undefined) {
    at.child('fieldPath').invalid(ref.fieldPath, `error converting fieldPath: ${problem}`)
    return
  }
  const subscripted = splitSubscript(ref.fieldPath)
  if (subscripted === undefined) {
    const path = ref.fieldPath === 'spec.host' ? 'spec.nodeName' : ref.fieldPath
    if (!allowed.includes(path)) at.child('fieldPath').notSupported(path, allowed)
  } else if (subscripted.path === 'metadata.annotations') validateQualifiedName(subscripted.key.toLowerCase(), at)
  else validateQualifiedName(subscripted.key, at)
}

function conversionProblem(apiVersion: string, path: string): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`
  const subscripted = splitSubscript(path)
  if (subscripted !== undefined) {
    const supported = subscripted.path === 'metadata.annotations' || subscripted.path === 'metadata.labels'
    return supported ? undefined : `field label does not support subscript: ${path}`
  }
  return knownFields.has(path) || path === 'spec.host' ? undefined : `field label not supported: ${path}`
}

/** A `resourceFieldRef` to one of the resources `allowed`, or to huge pages. */
export function validateResourceFieldRef(
  ref: R<ResourceFieldSelector>,
  at: FieldPath,
  options: { readonly allowed: readonly string[]; readonly containerRequired: boolean },
): void {
  if (options.containerRequired && isEmpty(ref.containerName)) at.child('containerName').required()
  else if (isEmpty(ref.resource)) at.child('resource').required()
  else if (!options.allowed.includes(ref.resource) && !isHugePagesField(ref.resource)) {
    at.child('resource').notSupported(ref.resource, options.allowed)
  }
  validateDivisor(ref.resource, ref.divisor, at.child('divisor'))
}

function isHugePagesField(resource: string): boolean {
  return resource.startsWith('limits.hugepages-') || resource.startsWith('requests.hugepages-')
}

function validateDivisor(resource: string, divisor: string | undefined, at: FieldPath): void {
  const value = amount(divisor)
  if (sign(value) === 0) return
  const text = value.toString()
  if (resource === 'limits.cpu' || resource === 'requests.cpu') {
    if (!cpuDivisorSet.has(text)) at.invalid(resource, "only divisor's values 1m and 1 are supported with the cpu resource")
    return
  }
  const noun = byteResourceNoun(resource)
  if (noun !== undefined && !byteDivisorSet.has(text)) {
    at.invalid(resource, `only divisor's values ${byteDivisors} are supported with the ${noun} resource`)
  }
}

function byteResourceNoun(resource: string): string | undefined {
  if (resource === 'limits.memory' || resource === 'requests.memory') return 'memory'
  if (resource === 'limits.ephemeral-storage' || resource === 'requests.ephemeral-storage') return 'local ephemeral storage'
  return isHugePagesField(resource) ? 'hugepages' : undefined
}
