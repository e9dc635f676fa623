import { type JsonObject, type NamingProfile, stockProfile } from '@krmkit/meta'
import type { TypeSource } from '../interfaces.ts'
import { mediaTypes, namesOf, type Operation } from './operations.ts'
import type { LiteralSchema, PublishedSchema } from './schemas.ts'

/** Operations outside of group versions: discovery of versions and groups, and the server version. */

export interface RootDocument {
  /** Name in the OpenAPI v3 index: `api`, `apis`, `apis/apps`, `version`. */
  readonly name: string
  readonly operations: readonly Operation[]
  readonly schemas: readonly PublishedSchema[]
}

export interface RootOptions {
  readonly source: TypeSource
  /** Named API groups that are served. */
  readonly groups: readonly string[]
  /** Whether the server issues service account tokens and publishes its keys. */
  readonly issuer: boolean
  /** Whether `/version` names the emulated release. Default true. */
  readonly namesEmulation?: boolean
  /** Domain names in media types and ids. Default: the names of Kubernetes. */
  readonly profile?: NamingProfile
}

/**
 * Creates the documents of all paths outside of group versions.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { rootDocuments } from '@krmkit/schema/openapi'
 * const documents = rootDocuments({ source: builtInTypes(), groups: ['apps'], issuer: false })
 * documents.map(({ name }) => name) // [ 'api', 'apis', 'apis/apps', 'version' ]
 */
export function rootDocuments({
  source,
  groups,
  issuer,
  namesEmulation = true,
  profile = stockProfile,
}: RootOptions): RootDocument[] {
  const produces = mediaTypes(profile).objects
  return [
    discovery(source, {
      produces,
      name: 'api',
      type: 'APIVersions',
      id: 'getCoreAPIVersions',
      tag: 'core',
      text: 'Lists the versions of the core group.',
    }),
    discovery(source, {
      produces,
      name: 'apis',
      type: 'APIGroupList',
      id: 'getAPIVersions',
      tag: 'apis',
      text: 'Lists the API groups.',
    }),
    ...groups.map((group) => {
      const names = namesOf({ group, version: '' }, profile)
      const tag = names.tag.slice(0, -1)
      return discovery(source, {
        produces,
        name: `apis/${group}`,
        type: 'APIGroup',
        id: `get${names.id}APIGroup`,
        tag,
        text: `Returns the versions of ${group}.`,
      })
    }),
    plainDocument('version', versionInfo(namesEmulation), {
      id: 'getCodeVersion',
      tag: 'version',
      text: 'Returns the version of the server.',
    }),
    ...(issuer ? issuerDocuments() : []),
  ]
}

function issuerDocuments(): RootDocument[] {
  return [
    plainDocument('.well-known/openid-configuration', undefined, {
      id: 'getServiceAccountIssuerOpenIDConfiguration',
      tag: 'WellKnown',
      text: 'Returns the OpenID configuration of the service account issuer.',
    }),
    plainDocument('openid/v1/jwks', undefined, {
      id: 'getServiceAccountIssuerOpenIDKeyset',
      tag: 'openid',
      text: 'Returns the public keys of the service account issuer.',
      produces: 'application/jwk-set+json',
    }),
  ]
}

interface Discovery {
  readonly produces: readonly string[]
  readonly name: string
  readonly type: string
  readonly id: string
  readonly tag: string
  readonly text: string
}

function discovery(source: TypeSource, at: Discovery): RootDocument {
  const schema = source.struct(`meta/v1.${at.type}`)
  const operation: Operation = {
    path: `/${at.name}/`,
    method: 'get',
    id: at.id,
    tag: at.tag,
    description: at.text,
    parameters: [],
    responses: [{ status: 200, schema: schema.openapiName }],
    produces: at.produces,
  }
  return { name: at.name, operations: [operation], schemas: [schema] }
}

/** A path with one GET operation that returns a schema or text. */
function plainDocument(
  name: string,
  schema: LiteralSchema | undefined,
  at: { readonly id: string; readonly tag: string; readonly text: string; readonly produces?: string },
): RootDocument {
  const operation: Operation = {
    path: `/${name}/`,
    method: 'get',
    id: at.id,
    tag: at.tag,
    description: at.text,
    parameters: [],
    responses: [{ status: 200, schema: schema?.name ?? 'string' }],
    produces: [at.produces ?? 'application/json'],
    ...(schema === undefined ? { consumes: [] } : {}),
  }
  return { name, operations: [operation], schemas: schema === undefined ? [] : [schema] }
}

/** Members of `/version`; optional ones depend on the release. */
const versionMembers: readonly (readonly [name: string, text: string, optional?: boolean])[] = [
  ['major', 'Major version of the API.'],
  ['minor', 'Minor version of the API.'],
  ['emulationMajor', 'Emulated major version.', true],
  ['emulationMinor', 'Emulated minor version.', true],
  ['minCompatibilityMajor', 'Major version of the oldest compatible release.', true],
  ['minCompatibilityMinor', 'Minor version of the oldest compatible release.', true],
  ['gitVersion', 'Semantic version with a leading v.'],
  ['gitCommit', 'Commit of the build.'],
  ['gitTreeState', 'Whether the working tree was clean at build time.'],
  ['buildDate', 'Build time in RFC 3339 form.'],
  ['goVersion', 'Version of the language runtime.'],
  ['compiler', 'JavaScript engine.'],
  ['platform', 'Operating system and architecture.'],
]

function versionInfo(namesEmulation: boolean): LiteralSchema {
  const members = versionMembers.filter(([, , optional]) => namesEmulation || !optional)
  return {
    name: 'io.k8s.apimachinery.pkg.version.Info',
    uses: [],
    of(dialect) {
      const properties: JsonObject = {}
      for (const [name, description, optional] of members) {
        properties[name] = { description, ...(dialect === 'v3' && !optional ? { default: '' } : {}), type: 'string' }
      }
      const required = members.filter(([, , optional]) => !optional).map(([name]) => name)
      return { description: 'Versions of the server.', properties, required, type: 'object' }
    },
  }
}
