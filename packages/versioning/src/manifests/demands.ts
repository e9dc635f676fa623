import { formatApiVersion, type GroupVersionKind, isJsonObject, type JsonObject } from '@krmkit/meta'
import { ownMember } from './objects.ts'

/**
 * Requirements of a version on new objects beyond its schema. Unmet requirements are fixed if that keeps the meaning, and
 * reported otherwise.
 */

/** @param severity `error`: the server rejects the object; `warning`: the object behaves differently. */
export type Note = (severity: 'error' | 'warning', path: string, message: string) => void

/** Returns the object adapted to the requirements of the version. Shares unchanged members with its argument. */
export function meetDemands(target: GroupVersionKind, object: JsonObject, note: Note): JsonObject {
  const name = `${formatApiVersion(target)} ${target.kind}`
  const meet = Object.hasOwn(demands, name) ? demands[name] : undefined
  return meet === undefined ? object : meet(object, note)
}

type Meet = (object: JsonObject, note: Note) => JsonObject

const demands: Readonly<Record<string, Meet>> = {
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration': webhooks,
  'apiextensions.k8s.io/v1 CustomResourceDefinition': definition,
  'certificates.k8s.io/v1 CertificateSigningRequest': request,
  'events.k8s.io/v1 Event': event,
  'apps/v1 Deployment': workload,
  'apps/v1 DaemonSet': workload,
  'apps/v1 ReplicaSet': workload,
  'apps/v1 StatefulSet': workload,
}

function webhooks(object: JsonObject, note: Note): JsonObject {
  const seen = new Set<unknown>()
  listOf(object, 'webhooks').forEach((webhook, i) => {
    const effects = ownMember(webhook, 'sideEffects')
    if (effects !== 'None' && effects !== 'NoneOnDryRun') {
      const message = `v1 accepts None and NoneOnDryRun only, and the webhook has ${String(effects)}: state the side effects that it has`
      note('error', `webhooks[${i}].sideEffects`, message)
    }
    const name = ownMember(webhook, 'name')
    if (seen.has(name)) note('error', `webhooks[${i}].name`, 'v1 requires names that are unique in the list')
    seen.add(name)
  })
  return object
}

const keepUnknown = 'x-kubernetes-preserve-unknown-fields'

/** `v1` prunes, and requires a schema of each version. */
function definition(object: JsonObject, note: Note): JsonObject {
  const spec = ownMember(object, 'spec')
  if (!isJsonObject(spec)) return object
  const keepsAll = ownMember(spec, 'preserveUnknownFields') === true
  const { preserveUnknownFields: _, ...pruning } = spec
  let hasSchema = false
  const versions = listOf(spec, 'versions').map((version) => {
    const given = ownMember(version, 'schema')
    const found = isJsonObject(given) ? ownMember(given, 'openAPIV3Schema') : undefined
    const schema = isJsonObject(found) ? found : undefined
    if (schema !== undefined) hasSchema = true
    const typed = schema === undefined ? { type: 'object' } : 'type' in schema ? schema : { type: 'object', ...schema }
    const open = keepsAll || schema === undefined
    const written = open && !(keepUnknown in typed) ? { ...typed, [keepUnknown]: true } : typed
    return written === schema
      ? version
      : { ...version, schema: { ...(isJsonObject(given) ? given : {}), openAPIV3Schema: written } }
  })
  if (keepsAll && hasSchema) {
    const message =
      'v1 removes fields that the schema does not name; only those of the root are kept, complete the schema of the others'
    note('warning', 'spec.preserveUnknownFields', message)
  }
  return { ...object, spec: { ...(keepsAll ? pruning : spec), versions } }
}

function request(object: JsonObject, note: Note): JsonObject {
  const spec = ownMember(object, 'spec')
  if (isJsonObject(spec) && ownMember(spec, 'signerName') === 'kubernetes.io/legacy-unknown')
    note('error', 'spec.signerName', 'v1 does not accept kubernetes.io/legacy-unknown: name the signer')
  return object
}

function event(object: JsonObject, note: Note): JsonObject {
  const type = ownMember(object, 'type')
  if (type !== 'Normal' && type !== 'Warning') note('error', 'type', 'v1 accepts Normal and Warning only')
  for (const name of ['action', 'reason', 'reportingController', 'reportingInstance', 'eventTime']) {
    const value = ownMember(object, name)
    if (value === undefined || value === '' || value === null) note('error', name, `v1 requires ${name}`)
  }
  return object
}

function workload(object: JsonObject, note: Note): JsonObject {
  const spec = ownMember(object, 'spec')
  const selector = isJsonObject(spec) ? ownMember(spec, 'selector') : undefined
  if (selector === undefined || selector === null)
    note('error', 'spec.selector', 'v1 requires a selector, and the template has no labels')
  return object
}

function listOf(object: JsonObject, name: string): JsonObject[] {
  const list = ownMember(object, name)
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
