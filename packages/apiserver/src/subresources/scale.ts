import { ApiError, type ApiObject, type DeepReadonly, field, type ManagedFieldsEntry, Path } from '@krmkit/meta'
import { type FrozenObject, isStorableName, objectKey, updateObject } from '@krmkit/registry'
import type { ApiResponse } from '../interfaces.ts'
import { readObject } from '../request-body.ts'
import { header } from '../request-context.ts'
import { type ResourceRequest, requestedOptions, writeContext } from '../resource-handler.ts'
import { appliedObject, type PatchTarget, patchBody, patched, patchKind } from '../verbs/patch.ts'
import { presentObject } from '../verbs/read.ts'
import { whenDone } from '../when-done.ts'
import { scaleOwners } from './scale-ownership.ts'

/**
 * `/scale`: the replicas of a workload seen as an `autoscaling/v1` Scale, whatever its kind.
 *
 * @see API protocol specification, 2.1
 */
export interface Scale extends ApiObject {
  spec?: { replicas?: number }
  status?: { replicas: number; selector?: string }
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

export async function scaleResource(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { namespace, name, verb } = state.info
  const { negotiator } = machinery.responder
  const representation = negotiator.negotiate(header(state.request, 'accept'), { transforms: ['Table', 'PartialObjectMetadata'] })
  if (verb === 'get') {
    const { storage } = machinery.writer.environment
    const entry = isStorableName(name) ? storage.peek(objectKey(definition, namespace, name)) : undefined
    if (entry === undefined) throw ApiError.notFound({ group: definition.group, resource: definition.resource.name }, name)
    await request.view.load([entry])
    return presentObject(request, 200, scaleOf(request, request.view.object(entry)), representation)
  }
  const kind = verb === 'patch' ? patchKind(request) : undefined
  const options = requestedOptions(request, verb === 'update' ? 'UpdateOptions' : 'PatchOptions', kind === 'apply')
  const scaleType = () => machinery.responder.types.struct('autoscaling/v1.Scale')
  const target: PatchTarget = { gvk: scaleKind, type: scaleType, namespaced: definition.kind.namespaced }
  const body =
    verb === 'update'
      ? await readObject(machinery, state, {
          gvk: scaleKind,
          type: scaleType,
          fieldValidation: options.fieldValidation,
          unstored: true,
        })
      : undefined
  const patch = kind === undefined ? undefined : await patchBody(request, kind)
  const context = writeContext(request, options)
  const answer = await updateObject(machinery.writer, definition, context, {
    namespace,
    name,
    subresource: 'scale',
    owned: true,
    shownAs: {
      kind: scaleKind,
      show: (object) => structuredClone(scaleOf(request, object, true)) as Scale,
      take: (object, shown) => withReplicas(request, object, (shown as Scale).spec?.replicas ?? 0),
    },
    change(current) {
      if (current === undefined) throw ApiError.notFound({ group: definition.group, resource: definition.resource.name }, name)
      const owners = scaleOwners(definition, current, { context, scaleType, now: machinery.writer.environment.clock.now() })
      const before = owners.withOwners(scaleOf(request, current, true))
      if (patch?.kind === 'apply') {
        return whenDone(appliedObject(request, target, patch, { ...options, exists: true }), ({ sent }) => {
          const next = owners.applied(before, sent, options.force === true) as Scale
          return scaled(request, current, before, next, owners.afterApply(next))
        })
      }
      const next = patch === undefined ? body : patched(request, target, patch, before, options)
      return whenDone(next as Scale | Promise<Scale>, (scale) =>
        scaled(
          request,
          current,
          before,
          scale,
          owners.afterUpdate(before, {
            ...scale,
            metadata: { ...scale.metadata, managedFields: before.metadata.managedFields ?? [] },
          }),
        ),
      )
    },
  })
  return presentObject(request, 200, scaleOf(request, answer.object), representation)
}

function scaleOf({ definition }: ResourceRequest, object: FrozenObject, lenient = false): DeepReadonly<Scale> {
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
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(object, paths.statusReplicas), ...(selector === '' ? {} : { selector }) },
  }
}

/** The object with the replicas of `next`. @throws ApiError 400, 409, 422 */
function scaled(
  { definition, state }: ResourceRequest,
  current: FrozenObject,
  before: FrozenObject,
  next: Scale,
  managedFields: ManagedFieldsEntry[],
): ApiObject {
  const { name } = state.info
  const given = next.metadata?.name ?? ''
  const gk = { group: scaleKind.group, kind: scaleKind.kind }
  if (given !== '' && given !== name)
    throw ApiError.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  const replicas = next.spec?.replicas ?? 0
  // Custom resources have rules of their own for the place where replicas are kept.
  if (replicas < 0 && definition.custom === undefined) {
    throw ApiError.invalid(gk, name, [
      field.invalid(Path.of('spec').child('replicas'), replicas, 'must be greater than or equal to 0'),
    ])
  }
  const uid = next.metadata?.uid ?? ''
  if (uid !== '' && uid !== before.metadata.uid) {
    throw ApiError.conflict(
      { group: definition.group, resource: definition.resource.name },
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
    )
  }
  const changed = structuredClone(current) as ApiObject
  const version = next.metadata?.resourceVersion ?? ''
  if (version !== '' || definition.custom === undefined) changed.metadata.resourceVersion = version
  if (managedFields.length > 0) changed.metadata.managedFields = managedFields
  else delete changed.metadata.managedFields
  writeAt(changed, definition.strategy.scale?.specReplicas ?? [], replicas)
  return changed
}

function withReplicas({ definition }: ResourceRequest, object: ApiObject, replicas: number): ApiObject {
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

function numberAt(object: DeepReadonly<object>, path: readonly string[]): number {
  let at: unknown = object
  for (const member of path) at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[member] : undefined
  return typeof at === 'number' ? at : 0
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
