import type { AdmissionAttributes, AdmissionContext, Reservation } from '@krmkit/admission'
import type { Work } from '@krmkit/base/work'
import { managedFieldsProblem } from '@krmkit/fieldmanager/paced'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject, GroupVersionKind, OwnerReference } from '@krmkit/meta'
import type { FrozenObject, WriteContext } from '../interfaces.ts'
import type { RegistryInternals } from '../internals.ts'

/** The attributes and context that admission receives, and how its result is applied. */

/** The attributes that depend on the verb. */
export type AdmittedRequest = Pick<AdmissionAttributes, 'operation' | 'name' | 'namespace'> & {
  readonly subresource?: string
  /** Kind of the body where it differs from the kind of the resource: `Scale`, `Binding`. */
  readonly kind?: GroupVersionKind
  readonly oldObject?: FrozenObject | undefined
  /** Default: the options of the request. */
  readonly options?: object
}

export function admissionAttributes(
  definition: ResourceDefinition,
  context: WriteContext,
  rest: AdmittedRequest,
): AdmissionAttributes {
  const { operation, name, namespace, subresource = '', oldObject, options = context.options } = rest
  const { group, version, kind } = rest.kind ?? definition.kind
  return {
    operation,
    name,
    namespace,
    subresource,
    kind: { group, version, kind },
    resource: { group: definition.group, version: definition.version, resource: definition.resource.name },
    user: context.user,
    dryRun: context.dryRun,
    ...(oldObject === undefined ? {} : { oldObject }),
    ...(options === undefined ? {} : { options: options as Record<string, unknown> }),
  }
}

/** The context of admission plugins. */
export function admissionContext(
  { reader, writer, versionConverter, environment: { metrics } }: RegistryInternals,
  context: WriteContext,
): AdmissionContext {
  const { warn, annotate, decisions } = context
  return {
    reader,
    writer,
    versionConverter,
    bounds: context,
    warn,
    reinvocation: undefined,
    ...(metrics === undefined ? {} : { metrics }),
    ...(annotate === undefined ? {} : { annotate }),
    ...(decisions === undefined ? {} : { trace: decisions }),
  }
}

/** Restores malformed managedFields and drops repeated owners after mutating admission, with a warning. Mutates `object`. */
export function* restoreAdmittedMetadata(object: ApiObject, before: FrozenObject, { warn }: Pick<WriteContext, 'warn'>): Work {
  const { metadata } = object
  if (metadata.managedFields !== before.metadata.managedFields) {
    const problem = yield* managedFieldsProblem(metadata.managedFields)
    if (problem !== undefined) {
      if (before.metadata.managedFields === undefined) delete metadata.managedFields
      else metadata.managedFields = before.metadata.managedFields as NonNullable<typeof metadata.managedFields>
      warn(
        `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
      )
    }
  }
  dropRepeatedOwners(object, { warn, afterAdmission: true })
}

/**
 * Drops repeated owner references, with a warning. Replaces the list of `object` and does not modify it in place.
 *
 * @example
 * import { dropRepeatedOwners } from '@krmkit/registry'
 * const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'web', uid: '1' }
 * const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', ownerReferences: [owner, owner] } }
 * dropRepeatedOwners(object, { warn: console.warn, afterAdmission: false })
 * object.metadata.ownerReferences.length // 1
 */
export function dropRepeatedOwners(
  object: ApiObject,
  { warn, afterAdmission }: { readonly warn: WriteContext['warn']; readonly afterAdmission: boolean },
): void {
  const owners = object.metadata.ownerReferences
  if (owners === undefined || owners.length < 2) return
  const kept = new Map<string, OwnerReference>()
  const repeated = new Set<string>()
  for (const owner of owners) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner
    const key = JSON.stringify([apiVersion, kind, name, uid, controller ?? null, blockOwnerDeletion ?? null])
    if (kept.has(key)) repeated.add(uid)
    else kept.set(key, owner)
  }
  if (repeated.size === 0) return
  object.metadata.ownerReferences = [...kept.values()]
  const when = afterAdmission ? ' after mutating admission happens' : ''
  warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  )
}

/** Commits the reservation of validating admission when `write` stores an object, and rolls it back when it does not. */
export function writeReserved<T>(
  reservation: Reservation | undefined,
  write: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return reservation === undefined ? write() : writeAndRelease(reservation, write)
}

async function writeAndRelease<T>(reservation: Reservation, write: () => Promise<T | undefined>): Promise<T | undefined> {
  let written: T | undefined
  try {
    written = await write()
  } finally {
    await (written === undefined ? reservation.rollback() : reservation.commit())
  }
  return written
}
