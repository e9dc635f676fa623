import { type Client, createRemoteClient, type ResourceType, resourceType } from '@krmkit/client'
import { ApiError, type ApiObject, isJsonObject } from '@krmkit/meta'
import { findDeprecations } from '@krmkit/versioning'
import { connectionOf, withClient } from '../access/rbac-source.ts'
import { CliError } from '../cli-error.ts'
import type { DeprecationsFlags, LocatedDeprecation } from './options.ts'

/**
 * Scans the objects of a server. A server returns objects in the version that is asked for, so what counts is the version that clients
 * wrote: the applied configuration of kubectl, and the versions of managedFields.
 */
export async function scanServer(flags: DeprecationsFlags): Promise<{ findings: LocatedDeprecation[]; objects: number }> {
  const connection = await connectionOf(flags)
  return withClient(createRemoteClient(connection), (client) => scanClient(client, { ...flags, server: connection.server }))
}

/** What a scan needs of a client. */
export type ObjectReader = Pick<Client, 'request' | 'listPages'>

/** Scans the objects that a client reads. */
export async function scanClient(
  client: ObjectReader,
  { release, server }: { readonly release?: string | undefined; readonly server: string },
): Promise<{ findings: LocatedDeprecation[]; objects: number }> {
  const written: (ApiObject | Writer)[] = []
  let objects = 0
  for (const resource of await resourcesOf(client)) {
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
    for await (const object of objectsOf(client, resource)) {
      objects++
      const named = { ...object, apiVersion, kind: resource.kind }
      written.push(named, ...writers(named))
    }
  }
  const findings = findDeprecations(written, release === undefined ? {} : { release }).flatMap(
    ({ index, ...finding }): LocatedDeprecation[] => {
      const { [writer]: manager } = written[index] as Partial<Writer>
      if (manager !== undefined) {
        const message = `${String(manager)} writes it as ${finding.message}`
        return [{ ...finding, file: server, path: 'metadata.managedFields', message }]
      }
      // The version that the scan asks for is not one that a client uses.
      return finding.path === 'apiVersion' ? [] : [{ ...finding, file: server }]
    },
  )
  return { findings, objects }
}

/** Marks the stand-in for an object as a field manager writes it. */
const writer = Symbol('writer')

type Writer = ApiObject & { readonly [writer]: string }

/** One object without content for each other version that a field manager writes. */
function writers(object: ApiObject): Writer[] {
  const { managedFields = [], name, namespace } = object.metadata
  const seen = new Set([object.apiVersion])
  const found: Writer[] = []
  for (const { apiVersion, manager = '' } of managedFields) {
    if (apiVersion === undefined || seen.has(apiVersion)) continue
    seen.add(apiVersion)
    const metadata = { ...(name === undefined ? {} : { name }), ...(namespace === undefined ? {} : { namespace }) }
    found.push({ apiVersion, kind: object.kind, metadata, [writer]: manager })
  }
  return found
}

/** Objects that the user may not list are omitted. */
async function* objectsOf(client: ObjectReader, resource: ResourceType): AsyncGenerator<ApiObject> {
  try {
    for await (const { items } of client.listPages(resource)) yield* items
  } catch (error) {
    const skipped = ['Forbidden', 'MethodNotAllowed', 'NotFound']
    if (!ApiError.is(error) || !skipped.includes(error.reason)) throw error
  }
}

/** All resources with a list verb, in the preferred version of each group. */
async function resourcesOf(client: ObjectReader): Promise<ResourceType[]> {
  const groups = await json(client, '/apis')
  const preferred = listOf(groups, 'groups').flatMap((group) => {
    const version = isJsonObject(group['preferredVersion']) ? group['preferredVersion']['version'] : undefined
    return typeof group['name'] === 'string' && typeof version === 'string' ? [{ group: group['name'], version }] : []
  })
  const versions = [{ group: '', version: 'v1' }, ...preferred]
  const lists = await Promise.all(
    versions.map(async ({ group, version }) => {
      const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      return listOf(await json(client, path), 'resources').flatMap((each) => {
        const { name, kind, namespaced, verbs } = each
        const isListed = Array.isArray(verbs) && verbs.includes('list')
        if (typeof name !== 'string' || typeof kind !== 'string' || name.includes('/') || !isListed) return []
        return [resourceType({ group, version, resource: name, kind, namespaced: namespaced === true })]
      })
    }),
  )
  return lists.flat()
}

async function json(client: ObjectReader, path: string): Promise<unknown> {
  const response = await client.request({ path, headers: { accept: 'application/json' } })
  if (response.status === 200) return response.json()
  // A group whose server is down; the others can be scanned.
  if (response.status === 503) return {}
  throw new CliError({ code: 'InvalidResponse', message: `GET ${path} returns ${response.status}: ${await response.text()}` })
}

function listOf(value: unknown, name: string) {
  const list = isJsonObject(value) ? value[name] : undefined
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
