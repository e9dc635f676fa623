import { type Client, type ResourceType, resourceType } from '@krmkit/client'
import { discover } from '@krmkit/controllers/framework'
import { ApiError, type ApiObject, type JsonObject, type NamingProfile, type Status } from '@krmkit/meta'
import type { Manifest } from './manifests.ts'
import { TestingError } from './testing-error.ts'

const namespaces = resourceType({ group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false })
const fieldManager = 'seed'
/** Kinds that are created first. */
const firstKinds = ['Namespace', 'CustomResourceDefinition', 'PriorityClass', 'StorageClass', 'ServiceAccount']
const definitionTries = 50
/** A signal that never aborts. */
const { signal } = new AbortController()

export interface SeedOptions {
  readonly client: Client
  readonly profile: NamingProfile
  /** Waits until the server has processed all writes. */
  readonly settle: () => Promise<void>
}

/**
 * Creates the objects of a seed: namespaces and definitions first, others in the given order. Also creates missing namespaces, writes
 * `status` through the status subresource, and replaces existing objects.
 *
 * @throws TestingError `InvalidSeed` with the error of the server
 */
export async function applySeed(manifests: readonly Manifest[], options: SeedOptions): Promise<void> {
  const isFirst = ({ object }: Manifest) => firstKinds.includes(object.kind)
  const first = manifests.filter(isFirst).sort((a, b) => firstKinds.indexOf(a.object.kind) - firstKinds.indexOf(b.object.kind))
  const ordered = [...first, ...manifests.filter((manifest) => !isFirst(manifest))]
  let discovered = await discover(options.client, { ...options, signal })
  for (const manifest of ordered) {
    for (let tries = 0; ; tries++) {
      const { apiVersion, kind } = manifest.object
      const resource = discovered.ofKind(apiVersion, kind)
      if (resource !== undefined) {
        await seedObject(manifest, resource, options)
        break
      }
      if (tries === definitionTries || !isDefinedBySeed(manifests, manifest)) {
        throw new TestingError({ code: 'InvalidSeed', message: `${manifest.source}: the server has no ${kind} of ${apiVersion}` })
      }
      await options.settle()
      discovered = await discover(options.client, { ...options, signal })
    }
  }
}

/** Whether a custom resource definition of the seed defines the kind of an object. */
function isDefinedBySeed(manifests: readonly Manifest[], { object }: Manifest): boolean {
  return manifests.some((other) => {
    const spec = other.object.spec as { group?: string; names?: { kind?: string } } | undefined
    return other.object.kind === 'CustomResourceDefinition' && spec?.names?.kind === object.kind
  })
}

async function seedObject(manifest: Manifest, resource: ResourceType, options: SeedOptions): Promise<void> {
  const { client } = options
  const { object, source } = manifest
  try {
    const namespace = resource.namespaced ? (object.metadata.namespace ?? client.namespace) : ''
    const created = await create(manifest, resource, { namespace, ...options })
    const status = object.status as JsonObject | undefined
    const needsStatus = status !== undefined && Object.keys(status).length > 0
    if (needsStatus) await writeStatus(client, resource, created, { namespace, status })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TestingError({
      code: 'InvalidSeed',
      message: `${source}: ${object.kind} ${object.metadata.name ?? ''}: ${why}`,
      cause,
    })
  }
}

async function create(
  manifest: Manifest,
  resource: ResourceType,
  options: SeedOptions & { readonly namespace: string },
): Promise<ApiObject> {
  const { client, namespace } = options
  const { object, text, contentType } = manifest
  const collection = pathOf(resource, namespace)
  for (let tries = 0; ; tries++) {
    const path = `${collection}?fieldManager=${fieldManager}&fieldValidation=Strict`
    const response = await client.request({ method: 'POST', path, headers: { 'content-type': contentType }, body: text, signal })
    const body = await response.json()
    if (response.status < 400) return body as ApiObject
    const error = new ApiError(body as Status)
    const { kind, name } = error.status.details ?? {}
    if (tries === 0 && error.reason === 'NotFound' && kind === 'namespaces' && name === namespace) {
      await client.create(namespaces, { metadata: { name: namespace } }, { fieldManager, signal })
      continue
    }
    // Server and controllers create some objects themselves.
    if (tries === 0 && error.reason === 'AlreadyExists') {
      const existing = await client.get(resource, object.metadata.name ?? '', { namespace, signal })
      const { resourceVersion = '', uid = '' } = existing.metadata
      return client.update(
        resource,
        { ...object, metadata: { ...object.metadata, resourceVersion, uid } },
        { namespace, fieldManager, signal },
      )
    }
    throw error
  }
}

async function writeStatus(
  client: Client,
  resource: ResourceType,
  created: ApiObject,
  options: { readonly namespace: string; readonly status: JsonObject },
): Promise<void> {
  const { status, ...location } = options
  try {
    const patch = { status }
    await client.patch(resource, created.metadata.name ?? '', {
      ...location,
      type: 'merge',
      patch,
      subresource: 'status',
      fieldManager,
    })
  } catch (error) {
    // Without a status subresource, the create request has stored the status.
    if (!(ApiError.is(error) && (error.code === 404 || error.code === 405))) throw error
  }
}

function pathOf({ group, version, resource }: ResourceType, namespace: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return namespace === '' ? `${root}/${resource}` : `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`
}
