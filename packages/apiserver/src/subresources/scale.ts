import { whenDone } from '@krmkit/base/work'
import { ApiError, type ApiObject, type DeepReadonly, field, type ManagedFieldsEntry, Path } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { FrozenObject, UpdateResult } from '@krmkit/registry'
import { normalize, type StructType } from '@krmkit/schema'
import { objectResponse } from '../encoding/object-response.ts'
import { type PatchBody, patchKind, readPatch } from '../encoding/patch-body.ts'
import { appliedConfiguration, patchedObject } from '../encoding/patched-object.ts'
import { readObject } from '../encoding/request-body.ts'
import { checkIdentity } from '../handlers/update.ts'
import { writeContext } from '../handlers/write-context.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiated, type RequestScope, requestedOptions } from '../request/scope.ts'
import { scaleOwners } from './scale-ownership.ts'

/**
 * `/scale`: the replicas of a workload of any kind as an `autoscaling/v1` Scale.
 *
 * @see API protocol specification, 2.1
 */
export interface Scale extends ApiObject {
  spec?: { replicas?: number }
  status?: { replicas: number; selector?: string }
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

export async function scaleResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { store, codec } = scope
  const { namespace, name, verb } = context.info
  const kind = verb === 'patch' ? patchKind(scope, context) : undefined
  const representation = negotiated(scope, context, { transforms: ['Table', 'PartialObjectMetadata'] })
  const form = { representation, status: 200 }
  if (verb !== 'get') {
    const { object } = await writeScale(scope, context, kind)
    return objectResponse(scope, context, scaleOf(scope, object), form)
  }
  const entry = await store.get({ namespace, name }, context)
  await codec.load([entry])
  await codec.ready(entry, 'object', scope.turns)
  return objectResponse(scope, context, scaleOf(scope, codec.object(entry)), form)
}

/** @param kind kind of the patch; absent for an update */
async function writeScale(
  scope: RequestScope,
  context: RequestContext,
  kind: PatchBody['kind'] | undefined,
): Promise<UpdateResult> {
  const { definition, responses, store, clock } = scope
  const { namespace, name } = context.info
  const options = requestedOptions(scope, context, kind === undefined ? 'UpdateOptions' : 'PatchOptions', kind === 'apply')
  const scaleType = () => responses.types.struct('autoscaling/v1.Scale')
  const expected = { gvk: scaleKind, type: scaleType, fieldValidation: options.fieldValidation, unstored: true }
  const body = kind === undefined ? await readObject(scope, context, expected) : undefined
  if (body !== undefined) checkIdentity(body, name, namespace, definition.kind.namespaced)
  const target = { gvk: scaleKind, type: scaleType, namespaced: definition.kind.namespaced }
  const { fieldValidation } = options
  const patch =
    kind === undefined
      ? undefined
      : { scope, context, target, options, body: await readPatch(scope, context, { kind, fieldValidation }) }
  const write = writeContext(context, options)
  let requested: { readonly object: Scale; readonly oldObject: FrozenObject } | undefined
  return store.updateStored(write, {
    namespace,
    name,
    subresource: 'scale',
    uid: body?.metadata.uid ?? '',
    managesFields: true,
    view: {
      kind: scaleKind,
      show: (object) => structuredClone(scaleOf(scope, object, true)) as Scale,
      requested: () => requested as NonNullable<typeof requested>,
      merge: (object, view) => withReplicas(scope, object, (view as Scale).spec?.replicas ?? 0),
    },
    change(current) {
      if (current === undefined) throw ApiError.notFound({ group: definition.group, resource: definition.resource.name }, name)
      const owners = scaleOwners(definition, current, { context: write, scaleType, now: clock.now() })
      const before = owners.withOwners(scaleOf(scope, current, true))
      if (patch?.body.kind === 'apply') {
        return whenDone(appliedConfiguration(patch, { exists: true }), ({ sent, object }) => {
          const next = owners.applied(before, sent, options.force === true) as Scale
          if (object instanceof ApiError) throw object
          requested = { object: next, oldObject: before }
          return scaled(scope, { current, before, next, managedFields: owners.afterApply(next) })
        })
      }
      const next = patch === undefined ? { object: body as ApiObject } : patchedObject(patch, before)
      return whenDone(next, ({ object }) => {
        const scale = object as Scale
        const metadata = { ...scale.metadata, managedFields: before.metadata.managedFields ?? [] }
        const { scale: own, parent } = owners.afterUpdate(before, { ...scale, metadata })
        requested = {
          object: shownScale(scaleType(), scale, own, current.metadata.namespace),
          oldObject: before,
        }
        return scaled(scope, { current, before, next: scale, managedFields: parent })
      })
    },
  })
}

/** The sent or patched Scale, as mutating admission sees it. */
function shownScale(
  type: StructType,
  scale: Scale,
  managedFields: FrozenObject['metadata']['managedFields'],
  namespace = '',
): Scale {
  const { managedFields: _, ...metadata } = scale.metadata
  const place = namespace === '' ? {} : { namespace }
  const owners = managedFields === undefined || managedFields.length === 0 ? {} : { managedFields }
  return normalize(type, { ...scale, metadata: { ...metadata, ...place, ...owners } }) as unknown as Scale
}

function scaleOf({ definition }: RequestScope, object: FrozenObject, lenient = false): DeepReadonly<Scale> {
  const paths = definition.strategy.scale
  if (paths === undefined) throw ApiError.genericNotFound()
  const { name = '', namespace = '', uid = '', resourceVersion = '', creationTimestamp = null } = object.metadata
  const replicas = numberAt(object, paths.specReplicas)
  if (definition.custom !== undefined && !lenient && !has(object, paths.specReplicas)) {
    throw ApiError.internalError(`the spec replicas field ".${paths.specReplicas.join('.')}" does not exist`)
  }
  const selector = paths.selector(object)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace === '' ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(object, paths.statusReplicas), ...(selector === '' ? {} : { selector }) },
  }
}

function requireSameName(sent: Scale, name: string): void {
  const given = sent.metadata?.name ?? ''
  if (given !== '' && given !== name)
    throw ApiError.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
}

interface ScaleChange {
  /** The scaled object. */
  readonly current: FrozenObject
  /** The Scale before and after the request. */
  readonly before: FrozenObject
  readonly next: Scale
  /** managedFields of the scaled object after the request. */
  readonly managedFields: ManagedFieldsEntry[]
}

/** kube-apiserver represents missing replicas of a custom resource by the least 32-bit integer. */
const absentReplicas = -(2 ** 31)

/** The object with the replicas of `next`. @throws ApiError 400, 409, 422 */
function scaled({ definition }: RequestScope, { current, before, next, managedFields }: ScaleChange): ApiObject {
  const { name = '' } = current.metadata
  requireSameName(next, name)
  const replicas = next.spec?.replicas ?? 0
  // The replicas of a custom resource are validated by its schema.
  if (definition.custom === undefined) {
    if (replicas < 0) {
      const gk = { group: scaleKind.group, kind: scaleKind.kind }
      const cause = field.invalid(Path.of('spec').child('replicas'), replicas, 'must be greater than or equal to 0')
      throw ApiError.invalid(gk, name, [cause])
    }
    const [uid = '', found] = [next.metadata?.uid, before.metadata.uid]
    if (uid !== '' && uid !== found) {
      const detail = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`
      throw ApiError.conflict({ group: definition.group, resource: `${definition.resource.name}/scale` }, name, detail)
    }
  } else if (replicas === absentReplicas) {
    throw ApiError.badRequest(`the spec replicas field ".${definition.strategy.scale?.specReplicas.join('.')}" cannot be empty`)
  }
  const changed = structuredClone(current) as ApiObject
  const version = next.metadata?.resourceVersion ?? ''
  if (version !== '' || definition.custom === undefined) changed.metadata.resourceVersion = version
  if (managedFields.length > 0) changed.metadata.managedFields = managedFields
  else delete changed.metadata.managedFields
  writeAt(changed, definition.strategy.scale?.specReplicas ?? [], replicas)
  return changed
}

function withReplicas({ definition }: RequestScope, object: ApiObject, replicas: number): ApiObject {
  const changed = structuredClone(object)
  writeAt(changed, definition.strategy.scale?.specReplicas ?? [], replicas)
  return changed
}

function has(object: DeepReadonly<object>, path: readonly string[]): boolean {
  let at: unknown = object
  for (const member of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, member)) return false
    at = (at as Record<string, unknown>)[member]
  }
  return true
}

/** The number at a path. A number above 32 bits, which custom resources may have, is truncated to its lower 32 bits. */
function numberAt(object: DeepReadonly<object>, path: readonly string[]): number {
  let at: unknown = object
  for (const member of path) at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[member] : undefined
  return typeof at === 'number' ? at | 0 : 0
}

function writeAt(object: Record<string, unknown>, path: readonly string[], value: number): void {
  const [head, ...rest] = path
  if (head === undefined) return
  if (rest.length === 0) {
    object[head] = value
    return
  }
  const inner = object[head]
  const next = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {}
  object[head] = next
  writeAt(next, rest, value)
}
