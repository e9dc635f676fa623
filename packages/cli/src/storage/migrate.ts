import { type Client, createRemoteClient, resourceType } from '@krmkit/client'
import { type MigrationProgress, migrateResource } from '@krmkit/controllers'
import { createMetadataClient, type DiscoveredResource, discover } from '@krmkit/controllers/framework'
import { type ApiObject, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { connectionOf, withClient } from '../access/rbac-source.ts'
import { CliError } from '../cli-error.ts'
import { errorText } from '../offline/command.ts'
import { prettyJson } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import type { MigrateFlags } from './options.ts'

const fieldManager = 'krmkit-storage-migrate'

interface Definition extends ApiObject {
  spec?: { group: string; names: { plural: string }; versions?: { name: string; storage: boolean }[] }
  status?: { storedVersions?: string[] }
}

const definitions = resourceType<Definition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

/** The result for one resource. */
interface Migrated {
  readonly resource: string
  readonly objects: number
  /** Versions that were removed from `status.storedVersions`. */
  readonly droppedVersions?: readonly string[]
  readonly error?: string
}

/** Runs `krmkit storage migrate`. @returns the exit code. @throws CliError, ApiError, ClientError */
export async function runMigrate(wanted: readonly string[], flags: MigrateFlags, terminal: Terminal): Promise<number> {
  const connection = await connectionOf(flags)
  return withClient(createRemoteClient(connection), async (client) => {
    const { signal } = new AbortController()
    const { preferred } = await discover(client, { profile: stockProfile, signal })
    const resources = chosen(preferred, wanted)
    const results: Migrated[] = []
    for (const resource of resources) {
      const result = await migrateOne(client, resource, { signal, terminal })
      results.push(result)
      if (flags.output === 'text') terminal.out(`${textOf(result)}\n`)
    }
    if (flags.output === 'json') terminal.out(`${prettyJson(results)}\n`)
    return results.some(({ error }) => error !== undefined) ? exitCodes.findings : exitCodes.success
  })
}

/** Resources that are stored: those that can be watched and written. @throws CliError for a name that is not served */
function chosen(all: readonly DiscoveredResource[], wanted: readonly string[]): readonly DiscoveredResource[] {
  const stored = all.filter(({ verbs }) => verbs.has('watch') && verbs.has('patch'))
  const missing = wanted.find((name) => !stored.some((each) => nameOf(each) === name || each.resource === name))
  if (missing !== undefined) {
    throw new CliError({ code: 'InvalidFlag', message: `the server has no stored resource ${JSON.stringify(missing)}` })
  }
  return wanted.length === 0 ? stored : stored.filter((each) => wanted.includes(nameOf(each)) || wanted.includes(each.resource))
}

/** `cronjobs.batch`, or `pods` in the core group. */
function nameOf({ group, resource }: DiscoveredResource): string {
  return group === '' ? resource : `${resource}.${group}`
}

interface MigrationContext {
  readonly signal: AbortSignal
  readonly terminal: Terminal
}

async function migrateOne(
  client: Client,
  resource: DiscoveredResource,
  { signal, terminal }: MigrationContext,
): Promise<Migrated> {
  const name = nameOf(resource)
  const metadata = createMetadataClient(client, { clock: systemClock, random: systemRandom, profile: stockProfile })
  const onProgress = ({ migrated, remaining = 0 }: MigrationProgress) => {
    if (terminal.interactive && remaining > 0) terminal.err(`${name}: ${migrated} of ${migrated + remaining}\n`)
  }
  try {
    const { migrated } = await migrateResource({ client, metadata }, resource, { signal, fieldManager, onProgress })
    const dropped = await dropStoredVersions(client, resource, signal)
    return { resource: name, objects: migrated, ...(dropped.length === 0 ? {} : { droppedVersions: dropped }) }
  } catch (error) {
    return { resource: name, objects: 0, error: errorText(error) }
  } finally {
    await metadata.close()
  }
}

/** @returns the versions that the definition of the resource no longer lists as stored. */
async function dropStoredVersions(
  client: Client,
  { group, resource }: DiscoveredResource,
  signal: AbortSignal,
): Promise<string[]> {
  if (!group.includes('.') || group.endsWith('.k8s.io')) return []
  const name = `${resource}.${group}`
  const definition = await client.get(definitions, name, { signal })
  const present = definition.spec?.versions?.find(({ storage }) => storage)?.name
  const stored = definition.status?.storedVersions ?? []
  const dropped = stored.filter((version) => version !== present)
  if (present === undefined || dropped.length === 0) return []
  const { resourceVersion = '' } = definition.metadata
  const patch = { metadata: { resourceVersion }, status: { storedVersions: [present] } }
  await client.patch(definitions, name, { type: 'merge', patch, subresource: 'status', fieldManager, signal })
  return dropped
}

function textOf({ resource, objects, droppedVersions, error }: Migrated): string {
  if (error !== undefined) return `${resource}: failed: ${error}`
  const dropped = droppedVersions === undefined ? '' : `; no longer stored: ${droppedVersions.join(', ')}`
  return `${resource}: ${objects} object${objects === 1 ? '' : 's'}${dropped}`
}
