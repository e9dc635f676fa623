import { type BlamedValue, blame, FieldManagerError } from '@krmkit/fieldmanager'
import { formatApiVersion, isJsonObject, type JsonObject } from '@krmkit/meta'
import type { ManifestDocument } from '@krmkit/schema/manifest'
import { type ManifestObject, type MemberShape, nameOf, type OfflineKinds, shapeAt } from 'krmkit/validate'
import type { Hover } from './connection.ts'
import { fieldText } from './field-text.ts'
import { objectAround, shapeOfObject } from './object-types.ts'
import { toRange } from './positions.ts'

/** What is shown for the field at the cursor: its type, its facts, and its owners where the object has managedFields. */

/** @param position from 1 */
export function hoverAt(
  documents: readonly ManifestDocument[],
  position: { readonly line: number; readonly column: number },
  kinds: OfflineKinds,
): Hover | undefined {
  for (const document of documents) {
    const place = document.at(position.line, position.column)
    if (place === undefined) continue
    const found = objectAround(document, place.steps)
    if (found === undefined) return undefined
    const steps = place.steps.slice(found.steps.length)
    const text = [typeText(found.object, steps, kinds), ownersText(found.object, steps, kinds)].filter((part) => part !== '')
    if (text.length === 0) return undefined
    return { contents: { kind: 'markdown', value: text.join('\n\n') }, range: toRange(place.range) }
  }
  return undefined
}

function typeText(object: ManifestObject, steps: readonly (string | number)[], kinds: OfflineKinds): string {
  const root = shapeOfObject(object, kinds)
  if (root === undefined || steps.length === 0) return ''
  if (steps.length === 1 && (steps[0] === 'kind' || steps[0] === 'apiVersion')) return kindText(object, kinds)
  const found = shapeAt(root, steps)
  if (found === undefined) return ''
  const member: MemberShape = 'value' in found ? found : { name: String(steps.at(-1)), value: found, required: false }
  return fieldText(pathText(steps), member)
}

/** `spec.containers[0].image` */
function pathText(steps: readonly (string | number)[]): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`
    if (/[.[\]]/.test(step)) return `${path}[${step}]`
    return path === '' ? step : `${path}.${step}`
  }, '')
}

function kindText(object: ManifestObject, kinds: OfflineKinds): string {
  const { apiVersion, kind } = nameOf(object)
  const definition = kinds.all().find((each) => each.kind.kind === kind && formatApiVersion(each.kind) === apiVersion)
  if (definition === undefined) return ''
  const { introduced, deprecated, removed, namespaced } = definition.kind
  const { shortNames } = definition.resource
  const facts = [
    `resource: \`${definition.resource.name}\`${shortNames.length === 0 ? '' : ` (${shortNames.join(', ')})`}`,
    namespaced ? 'in a namespace' : 'cluster-scoped',
    ...(introduced === undefined ? [] : [`since Kubernetes ${introduced}`]),
    ...(deprecated === undefined ? [] : [`deprecated since Kubernetes ${deprecated}`]),
    ...(removed === undefined ? [] : [`removed in Kubernetes ${removed}`]),
  ]
  return [`**${apiVersion} ${kind}**`, '', ...facts.map((fact) => `- ${fact}`)].join('\n')
}

function ownersText(object: ManifestObject, steps: readonly (string | number)[], kinds: OfflineKinds): string {
  const { value } = object
  const metadata = isJsonObject(value) ? value.metadata : undefined
  if (!isJsonObject(metadata) || !Array.isArray(metadata.managedFields)) return ''
  const found = blamed(value as JsonObject, object, kinds).find(
    (each) => each.steps.length === steps.length && each.steps.every((step, index) => step === steps[index]),
  )
  if (found === undefined) return ''
  if (found.owners.length === 0) return 'No manager owns it.'
  const owners = found.owners.map(({ manager, operation, subresource, since }) => {
    const what = [operation, subresource, since ?? ''].filter((part) => part !== '').join(', ')
    return `- \`${manager}\` (${what})`
  })
  return ['Owners:', ...owners].join('\n')
}

/** Entries that cannot be read name no owner. */
function blamed(value: JsonObject, object: ManifestObject, kinds: OfflineKinds): readonly BlamedValue[] {
  const { apiVersion, kind } = nameOf(object)
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const type = kinds.typeOf({ group: group ?? '', version: version ?? '', kind })
  try {
    return blame(value, type)
  } catch (error) {
    if (error instanceof FieldManagerError) return []
    throw error
  }
}
