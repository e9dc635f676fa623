import type { Attributes } from '@krmkit/authorization'
import { createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import { createFeatures, defaultRelease, stockProfile } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { CliError } from '../cli-error.ts'
import type { AccessFlags } from './options.ts'

/** A request to check, without its user. */
export type AccessRequest = Omit<Attributes, 'user'>

interface RequestOptions extends Pick<AccessFlags, 'allNamespaces' | 'subresource'> {
  readonly namespace: string
  /** The resources that names are resolved among. */
  readonly resources: readonly ResourceDefinition[]
}

/** Resources that occur only in rules, and their groups. */
const virtualResources: Readonly<Record<string, string>> = {
  users: '',
  groups: '',
  uids: `authentication.${stockProfile.apiDomain}`,
  userextras: `authentication.${stockProfile.apiDomain}`,
  signers: `certificates.${stockProfile.apiDomain}`,
}

/** Parses the arguments of a command. @throws CliError `InvalidFlag` for an empty verb or resource. */
export function parseAccessRequest(verb: string, resource: string, options: RequestOptions): AccessRequest {
  const nothing = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }
  if (verb === '') throw invalid('the verb is empty')
  if (resource.startsWith('/')) return { ...nothing, verb, isResource: false, path: resource }
  const { subresource = '', resources } = options
  const slash = resource.indexOf('/')
  const [what, name] = slash === -1 ? [resource, ''] : [resource.slice(0, slash), resource.slice(slash + 1)]
  if (what === '') throw invalid('the resource is empty')
  const found = resourceOf(what, resources)
  const ownNamespace = found.resource === 'namespaces' && found.group === '' && name !== ''
  const namespace = ownNamespace ? name : !found.namespaced || options.allNamespaces ? '' : options.namespace
  return {
    ...nothing,
    verb,
    isResource: true,
    path: '',
    group: found.group,
    resource: found.resource,
    subresource,
    namespace,
    name,
  }
}

interface FoundResource {
  readonly group: string
  readonly resource: string
  readonly namespaced: boolean
}

/** Resolves `deployments`, `deploy`, `Deployment` or `deployments.apps`. Unknown resources are used literally. */
function resourceOf(text: string, resources: readonly ResourceDefinition[]): FoundResource {
  if (text === '*') return { group: '*', resource: '*', namespaced: true }
  const dot = text.indexOf('.')
  const [word, group] = dot === -1 ? [text, undefined] : [text.slice(0, dot), text.slice(dot + 1)]
  if (group === undefined && Object.hasOwn(virtualResources, word))
    return { group: virtualResources[word]!, resource: word, namespaced: false }
  const known = resources.find((each) => (group === undefined || each.group === group) && isCalled(each, word.toLowerCase()))
  if (known === undefined) return { group: group ?? '', resource: word, namespaced: true }
  return { group: known.group, resource: known.resource.name, namespaced: known.kind.namespaced }
}

function isCalled({ resource, kind }: ResourceDefinition, word: string): boolean {
  return (
    resource.name === word ||
    resource.singularName === word ||
    resource.shortNames.includes(word) ||
    kind.kind.toLowerCase() === word
  )
}

/** The resources that a release serves by default. */
export async function resourcesOfRelease(release: string): Promise<readonly ResourceDefinition[]> {
  const features = createFeatures(release)
  if (release === defaultRelease) return createCatalog({ features }).definitions
  const { emulateRelease, typesAt } = await import('@krmkit/kinds/releases')
  return createCatalog({ features, types: typesAt(release), emulated: emulateRelease(features) }).definitions
}

/** `get secrets "tls" in the namespace "shop"` */
export function accessRequestText({
  verb,
  isResource,
  path,
  resource,
  subresource,
  group,
  namespace,
  name,
}: AccessRequest): string {
  if (!isResource) return `${verb} ${path}`
  const full = `${resource}${subresource === '' ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`
  const where = namespace === '' ? 'in the whole cluster' : `in the namespace ${goQuote(namespace)}`
  return `${verb} ${full}${name === '' ? '' : ` ${goQuote(name)}`} ${where}`
}

function invalid(message: string): CliError {
  return new CliError({ code: 'InvalidFlag', message })
}
