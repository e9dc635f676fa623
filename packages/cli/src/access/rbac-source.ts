import { createRbacAuthorizer, type RbacAuthorizer, type StoredObject } from '@krmkit/authorization'
import { bootstrapPolicy } from '@krmkit/authorization/bootstrap'
import { type Client, createRemoteClient, type KubeconfigConnection, loadKubeconfig, resourceType } from '@krmkit/client'
import { type ApiObject, createFeatures, isJsonObject, stockProfile, type UserInfo } from '@krmkit/meta'
import { nameOf, objectsOf } from 'krmkit/validate'
import { CliError } from '../cli-error.ts'
import { requireReadable, valuesOf } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { AccessFlags, SubjectFlags } from './options.ts'

/** Roles and bindings of files or a server. */
export interface RbacSource {
  readonly rbac: RbacAuthorizer
  /** Default namespace of requests. */
  readonly namespace: string
}

type SourceFlags = Pick<AccessFlags, 'filename' | 'bootstrapRoles' | 'release' | 'kubeconfig' | 'context' | 'namespace'>

const group = `rbac.authorization.${stockProfile.apiDomain}`
const kinds = [
  { resource: 'clusterroles', kind: 'ClusterRole', namespaced: false },
  { resource: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
  { resource: 'roles', kind: 'Role', namespaced: true },
  { resource: 'rolebindings', kind: 'RoleBinding', namespaced: true },
] as const

/** Loads roles and bindings from files, or else from the server. @throws CliError, ApiError, ClientError */
export async function loadRbacSource(flags: SourceFlags, terminal: Terminal): Promise<RbacSource> {
  if (flags.filename.length > 0) {
    const namespace = flags.namespace ?? 'default'
    return { rbac: createRbacAuthorizer({ objects: objectsOfFiles(flags, terminal) }), namespace }
  }
  const connection = await connectionOf(flags)
  const objects = await withClient(createRemoteClient(connection), objectsOfServer)
  return { rbac: createRbacAuthorizer({ objects }), namespace: flags.namespace ?? connection.namespace }
}

export async function connectionOf(flags: Pick<AccessFlags, 'kubeconfig' | 'context'>): Promise<KubeconfigConnection> {
  const { kubeconfig: path, context } = flags
  return loadKubeconfig({ ...(path === undefined ? {} : { path }), ...(context === undefined ? {} : { context }) })
}

async function objectsOfServer(client: Client): Promise<StoredObject[]> {
  const objects: StoredObject[] = []
  for (const each of kinds) {
    const { items } = await client.list(resourceType({ group, version: 'v1', ...each }))
    // List items omit apiVersion and kind.
    objects.push(...items.map((item) => ({ ...item, apiVersion: `${group}/v1`, kind: each.kind })))
  }
  return objects
}

/** Calls `use` and closes the client. */
export async function withClient<T>(client: Client, use: (client: Client) => Promise<T>): Promise<T> {
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

/** Objects of files override bootstrap objects with the same name. Objects of other kinds are ignored. */
function objectsOfFiles(flags: SourceFlags, terminal: Terminal): StoredObject[] {
  const { filename, bootstrapRoles, release, namespace = 'default' } = flags
  const found = new Map<string, StoredObject>()
  const take = (object: StoredObject) => {
    const { namespace: home = '', name = '' } = object.metadata
    found.set(`${object.kind}/${home}/${name}`, object)
  }
  const policy = bootstrapPolicy(stockProfile, { features: createFeatures(release) })
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = policy
  if (bootstrapRoles) for (const object of [...clusterRoles, ...clusterRoleBindings, ...roles, ...roleBindings]) take(object)
  let own = 0
  for (const file of requireReadable(findManifests(filename, terminal))) {
    for (const value of valuesOf(file)) {
      for (const item of objectsOf({ value })) {
        const { apiVersion, kind } = nameOf(item)
        const known = kinds.find((each) => each.kind === kind)
        if (known === undefined || !apiVersion.startsWith(`${group}/`) || !isJsonObject(item.value)) continue
        own++
        take(withNamespace({ ...item.value, apiVersion, kind } as unknown as ApiObject, known.namespaced ? namespace : undefined))
      }
    }
  }
  if (own === 0) terminal.err('krmkit: no roles or bindings found in the files\n')
  return [...found.values()]
}

/** Adds the namespace of the command to an object without one. */
function withNamespace(object: ApiObject, namespace: string | undefined): ApiObject {
  const metadata = isJsonObject(object.metadata) ? object.metadata : {}
  const { namespace: given = '' } = metadata as { namespace?: string }
  if (namespace === undefined || given !== '') return { ...object, metadata }
  return { ...object, metadata: { ...metadata, namespace } }
}

/** The user of `--as` with the groups that a server adds. @throws CliError `InvalidFlag` without `--as`. */
export function parseUser({ as: username = '', asGroup }: SubjectFlags): UserInfo {
  if (username === '')
    throw new CliError({ code: 'InvalidFlag', message: 'missing flag: --as USER, with --as-group GROUP for each group' })
  const virtual = username === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated'
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username) ?? []
  const ofAccount = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return { username, groups: [...new Set([...asGroup, ...ofAccount, virtual])] }
}
