import { createRemoteClient } from '@krmkit/client'
import { ApiError } from '@krmkit/meta'
import { catalogLookup, clusterLookup, type DefinitionLookup } from 'krmkit/validate'
import { connectionOf, withClient } from '../access/rbac-source.ts'
import { CliError, messageOf } from '../cli-error.ts'
import { createFolderReader, createUrlReader, type SchemaReader } from './schema-readers.ts'

/** Definitions of custom resources from a cluster and from catalogs, as the flags of `krmkit validate` name them. */

export interface DefinitionSourceFlags {
  readonly definitionsFromCluster: boolean
  readonly kubeconfig?: string
  readonly context?: string
  readonly catalog: readonly string[]
  /** In milliseconds. */
  readonly definitionsTimeout: number
}

export interface DefinitionSources {
  /** The cluster, then the catalogs in order. */
  readonly lookups: readonly DefinitionLookup[]
  close(): Promise<void>
}

/**
 * Reads the definitions of the cluster, and opens the catalogs, whose schemas are read on demand.
 *
 * @throws CliError `InvalidFlag`, and `InvalidResponse` when the cluster cannot be read; ClientError `InvalidKubeconfig`
 */
export async function openDefinitionSources(flags: DefinitionSourceFlags): Promise<DefinitionSources> {
  const timeoutMs = flags.definitionsTimeout
  const catalogs = flags.catalog.map((location) => openCatalog(location, timeoutMs))
  if (!flags.definitionsFromCluster && (flags.kubeconfig ?? flags.context) !== undefined)
    throw new CliError({ code: 'InvalidFlag', message: '--kubeconfig and --context need --definitions-from-cluster' })
  const cluster = flags.definitionsFromCluster ? [await readCluster(flags)] : []
  return {
    lookups: [...cluster, ...catalogs.map(({ lookup }) => lookup)],
    async close() {
      await Promise.all(catalogs.map(({ reader }) => reader.close()))
    },
  }
}

async function readCluster(flags: DefinitionSourceFlags): Promise<DefinitionLookup> {
  const connection = await connectionOf(flags)
  const signal = AbortSignal.timeout(flags.definitionsTimeout)
  try {
    const name = `the cluster of context ${connection.context}`
    return await withClient(createRemoteClient(connection), (client) => clusterLookup(client, { name, signal }))
  } catch (cause) {
    const message = `cannot read the CustomResourceDefinitions of ${connection.server}: ${reasonOf(cause, signal, flags)}`
    throw new CliError({ code: 'InvalidResponse', message, cause })
  }
}

function reasonOf(cause: unknown, signal: AbortSignal, { definitionsTimeout }: DefinitionSourceFlags): string {
  if (signal.aborted) return `no complete response within ${definitionsTimeout / 1000} s (--definitions-timeout)`
  if (ApiError.is(cause) && cause.reason === 'Forbidden') return `the user has no right to list them: ${cause.message}`
  return messageOf(cause)
}

/** @throws CliError `InvalidFlag` */
function openCatalog(location: string, timeoutMs: number): { readonly lookup: DefinitionLookup; readonly reader: SchemaReader } {
  const brace = location.indexOf('{')
  const split = brace < 0 ? location.length : location.lastIndexOf('/', brace) + 1
  const [base, path] = [location.slice(0, split), location.slice(split)]
  const unknown = /\{(?!(?:group|kind|version)\})[^}]*\}?/.exec(path)
  if (unknown !== null)
    throw invalid(location, `${unknown[0]} is not a part of a path; the parts are {group}, {kind} and {version}`)
  const options = { location: base, timeoutMs }
  const reader = /^https?:\/\//i.test(location) ? createUrlReader(options) : createFolderReader(options)
  const lookup = catalogLookup({ name: `the catalog ${base}`, read: reader.read, ...(path === '' ? {} : { path }) })
  return { lookup, reader }
}

function invalid(location: string, message: string): CliError {
  return new CliError({ code: 'InvalidFlag', message: `--catalog ${location}: ${message}` })
}
