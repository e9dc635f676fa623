import { blameLines } from '@krmkit/fieldmanager'
import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { type DiffLine, lineDiff } from '../../packages/cli/src/ownership/line-diff.ts'
import { builtInType } from './catalog.ts'
import type { Cluster } from './cluster.ts'
import { findResource, pathOf, readResources, resourceOfKind, type ServedResource } from './discovery.ts'
import { manifestObjects } from './manifests.ts'
import { TerminalError } from './terminal/terminal-error.ts'

/** Which manager owns each line of an object, and what an apply would change. */

export interface OwnedLine {
  readonly text: string
  /** Managers of the value on the line, with their subresource. */
  readonly owners: readonly string[]
}

/** A namespaced object, or a cluster-scoped one whose namespace is ignored. */
export interface ObjectReference {
  /** `deploy`, `pods`, `widgets.example.com` */
  readonly type: string
  readonly name: string
  readonly namespace: string
}

/** The lines of an object with their owners. @throws TerminalError for unknown resources and objects */
export async function ownedLines(cluster: Cluster, { type, name, namespace }: ObjectReference): Promise<OwnedLine[]> {
  const resource = findResource(await readResources(cluster), type)
  if (resource === undefined) throw new TerminalError(`the server doesn't have a resource type "${type}"`)
  const object = await cluster.read<JsonObject>(pathOf(resource, { namespace, name }))
  return blameLines(object, builtInType(resource)).map(({ text: line, owners }) => ({
    text: line,
    owners: [
      ...new Set(owners.map(({ manager, subresource }) => (subresource === '' ? manager : `${manager} (${subresource})`))),
    ],
  }))
}

/** What an apply of one object of the editor would do. */
export interface ApplyPreview {
  /** `Deployment default/web` */
  readonly object: string
  /** Lines that would change; unchanged parts are counted. Empty after an error. */
  readonly lines: readonly DiffLine[]
  readonly conflicts: readonly { readonly field: string; readonly message: string }[]
  /** Message of a failure other than a conflict. */
  readonly error?: string
}

export interface PreviewOptions {
  readonly manager: string
  /** Namespace of objects without one. */
  readonly namespace: string
  readonly force: boolean
}

/** Previews a server-side apply of each object by a dry run. @throws TerminalError when the text cannot be parsed */
export async function previewApply(cluster: Cluster, text: string, options: PreviewOptions): Promise<ApplyPreview[]> {
  const resources = await readResources(cluster)
  const previews: ApplyPreview[] = []
  for (const object of manifestObjects(text)) {
    const { apiVersion, kind, metadata } = object
    const { name = '', namespace = options.namespace } = (isJsonObject(metadata) ? metadata : {}) as {
      name?: string
      namespace?: string
    }
    const resource = resourceOfKind(resources, String(apiVersion), String(kind))
    const title = `${String(kind)} ${resource?.namespaced === true ? `${namespace}/` : ''}${name}`
    if (resource === undefined)
      previews.push({
        object: title,
        lines: [],
        conflicts: [],
        error: `the server has no ${String(kind)} in ${String(apiVersion)}`,
      })
    else
      previews.push({
        object: title,
        ...(await previewOf(cluster, { object, resource, path: pathOf(resource, { namespace, name }), options })),
      })
  }
  return previews
}

interface Planned {
  readonly object: JsonObject
  readonly resource: ServedResource
  readonly path: string
  readonly options: PreviewOptions
}

async function previewOf(cluster: Cluster, { object, path, options }: Planned): Promise<Omit<ApplyPreview, 'object'>> {
  const live = await cluster.request({ path })
  const query = new URLSearchParams({
    dryRun: 'All',
    fieldManager: options.manager,
    fieldValidation: 'Strict',
    force: String(options.force),
  })
  const contentType = 'application/apply-patch+yaml'
  const result = await cluster.request({ method: 'PATCH', path: `${path}?${query}`, contentType, body: JSON.stringify(object) })
  if (result.status === 409) return { lines: [], conflicts: conflictsOf(result.text) }
  if (result.status >= 300) return { lines: [], conflicts: [], error: messageOf(result.text) }
  const before = live.status === 404 ? [] : yamlLines(live.text)
  return { lines: lineDiff(before, yamlLines(result.text)), conflicts: [] }
}

function conflictsOf(text: string): ApplyPreview['conflicts'] {
  const { details, message = '' } = JSON.parse(text) as {
    message?: string
    details?: { causes?: { field?: string; message?: string }[] }
  }
  const causes = details?.causes ?? []
  return causes.length === 0
    ? [{ field: '', message }]
    : causes.map((cause) => ({ field: cause.field ?? '', message: cause.message ?? '' }))
}

/** The object as YAML without what every write changes. */
function yamlLines(text: string): string[] {
  const object = JSON.parse(text) as JsonObject & { metadata: JsonObject }
  const { managedFields: _, resourceVersion: __, uid: ___, creationTimestamp: ____, ...metadata } = object.metadata
  return printYaml({ ...object, metadata })
    .trimEnd()
    .split('\n')
}

function messageOf(text: string): string {
  return (JSON.parse(text) as { message?: string }).message ?? text
}
