import { readFileSync, statSync } from 'node:fs'
import { createRemoteClient } from '@krmkit/client'
import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { decodeUntyped } from '@krmkit/schema'
import { type ReleaseCalendar, VersioningError } from '@krmkit/versioning'
import {
  type ApiSurface,
  isElementList,
  joinSurfaces,
  parseCalendar,
  surfaceOfCustomResources,
  surfaceOfElements,
  surfaceOfMetrics,
  surfaceOfOpenApi,
  surfaceOfRelease,
} from '@krmkit/versioning/surface'
import { objectsOf } from 'krmkit/validate'
import { connectionOf, withClient } from '../access/rbac-source.ts'
import { CliError, messageOf } from '../cli-error.ts'
import { readText } from '../files.ts'
import { requireReadable, valuesOf } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import type { Terminal } from '../offline/terminal.ts'

/** The surfaces that `krmkit api-diff` compares. */

interface SourceFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

/**
 * Loads a surface: `release:1.24`, the URL of a server, or a file or folder with OpenAPI documents or definitions.
 *
 * @throws CliError, ApiError, ClientError
 */
export async function loadSurface(source: string, flags: SourceFlags, terminal: Terminal): Promise<ApiSurface> {
  if (source.startsWith('release:')) return releaseSurface(source.slice('release:'.length))
  if (/^https?:\/\//.test(source)) return serverSurface(source, flags)
  const metrics = metricsFile(source)
  if (metrics !== undefined) return surfaceOfMetrics(metrics, source)
  const values = requireReadable(findManifests([source], terminal)).flatMap((file) =>
    valuesOf(file).map((value) => decodeUntyped<JsonObject>(value, { collect: false }).object),
  )
  const surface = joinSurfaces(
    values.map((value) => surfaceOfValue(value, source)),
    source,
  )
  if (surface.kinds.length > 0 || values.some(isElementList)) return surface
  throw new CliError({
    code: 'FileFailed',
    message: `${source}: neither OpenAPI documents nor CustomResourceDefinitions with kinds, lists of elements, or metrics`,
  })
}

/** The text of a file with metrics; undefined for other sources. */
function metricsFile(source: string): string | undefined {
  if (statSync(source, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  const text = readFileSync(source, 'utf8')
  return /^# HELP \S+ \[/m.test(text) ? text : undefined
}

/** Reads the dates of releases. @throws CliError */
export async function loadCalendar(path: string): Promise<ReleaseCalendar> {
  const [value] = valuesOf({ path, text: await readText(path, 'calendar') })
  return readable(() =>
    parseCalendar(value === undefined ? undefined : decodeUntyped<JsonObject>(value, { collect: false }).object),
  )
}

function releaseSurface(release: string): ApiSurface {
  return readable(() => surfaceOfRelease(release))
}

/** @throws CliError for a release, list or calendar that cannot be read */
function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof VersioningError)) throw cause
    throw new CliError({ code: 'InvalidFlag', message: messageOf(cause), cause })
  }
}

function surfaceOfValue(value: unknown, source: string): ApiSurface {
  if (isElementList(value)) return readable(() => surfaceOfElements(value, source))
  if (isJsonObject(value) && ('openapi' in value || 'swagger' in value)) return surfaceOfOpenApi(value, source)
  return surfaceOfCustomResources(
    objectsOf({ value }).map((object) => object.value),
    source,
  )
}

/** Credentials come from the kubeconfig when its server has the URL. */
async function serverSurface(url: string, flags: SourceFlags): Promise<ApiSurface> {
  const server = url.replace(/\/+$/, '')
  const connection = await connectionOf(flags)
  if (connection.server.replace(/\/+$/, '') !== server) {
    const message = `the kubeconfig is for ${connection.server}; choose a context for ${server} with --context`
    throw new CliError({ code: 'InvalidFlag', message })
  }
  return withClient(createRemoteClient(connection), async (client) => {
    const response = await client.request({ path: '/openapi/v2', headers: { accept: 'application/json' } })
    const document = response.status === 200 ? await response.json() : undefined
    if (isJsonObject(document)) {
      const metrics = await client.request({ path: '/metrics' })
      const elements = metrics.status === 200 ? [surfaceOfMetrics(await metrics.text(), server)] : []
      return joinSurfaces([surfaceOfOpenApi(document, server), ...elements], server)
    }
    throw new CliError({ code: 'InvalidResponse', message: `GET ${server}/openapi/v2 returns ${response.status}` })
  })
}
