import { clusterInfoKey, clusterInfoName } from '@krmkit/certificates'
import { type Client, type ResourceRef, resourceType } from '@krmkit/client'
import { ApiError, type ApiObject, type NamingProfile, stockProfile } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { joiningGroup } from './options.ts'

export interface PublishOptions {
  /** URL under which the server is reached from outside. */
  readonly server: string
  /** PEM of the authority of its certificate; absent: those of the platform are trusted. */
  readonly authority: string | undefined
  readonly profile?: NamingProfile
  readonly fieldManager?: string
  readonly signal?: AbortSignal
}

interface ConfigMap extends ApiObject {
  data?: Record<string, string>
}

const configMaps = resourceType<ConfigMap>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })

/**
 * Tells everybody how to reach the cluster, and lets those who join ask for certificates, under the names that kubeadm uses.
 * Repeating it brings the address up to date and leaves alone what is there already.
 *
 * @throws ApiError, ClientError
 */
export async function publishClusterInfo(client: Client, options: PublishOptions): Promise<void> {
  const { profile = stockProfile, fieldManager = 'krmkit', signal } = options
  const namespace = profile.publicNamespace
  const how = { fieldManager, ...(signal === undefined ? {} : { signal }) }
  for (const [resource, object] of rbacObjects(profile)) await ignoreAlreadyExists(client.create(resource, object, how))
  const kubeconfig = clusterKubeconfig(options)
  const data = { [clusterInfoKey]: kubeconfig }
  const made = await ignoreAlreadyExists(client.create(configMaps, { metadata: { name: clusterInfoName, namespace }, data }, how))
  if (made !== undefined) return
  const { data: found = {} } = await client.get(configMaps, clusterInfoName, { namespace })
  if (found[clusterInfoKey] === kubeconfig) return
  await client.patch(configMaps, clusterInfoName, { ...how, namespace, type: 'merge', patch: { data } })
}

/** A kubeconfig of one cluster without a name, and of nobody. */
function clusterKubeconfig({ server, authority }: PublishOptions): string {
  const trust = authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') }
  const clusters = [{ name: '', cluster: { ...trust, server } }]
  return printYaml({ apiVersion: 'v1', kind: 'Config', clusters, contexts: [], 'current-context': '', users: [] })
}

async function ignoreAlreadyExists<T>(creation: Promise<T>): Promise<T | undefined> {
  try {
    return await creation
  } catch (error) {
    if (ApiError.is(error) && error.reason === 'AlreadyExists') return undefined
    throw error
  }
}

/** Everybody may read the information; who joins may ask for a certificate and is given that of a node. */
function rbacObjects({ apiDomain, publicNamespace }: NamingProfile): [ResourceRef, ApiObject][] {
  const group = `rbac.authorization.${apiDomain}`
  const apiVersion = `${group}/v1`
  const resourceOf = (kind: string) => {
    const namespaced = !kind.startsWith('Cluster')
    return resourceType({ group, version: 'v1', resource: `${kind.toLowerCase()}s`, kind, namespaced })
  }
  const rightsTo = (kind: string, metadata: ApiObject['metadata'], rules: object[]): [ResourceRef, ApiObject] => [
    resourceOf(kind),
    { apiVersion, kind, metadata, rules } as ApiObject,
  ]
  const bindingOf = (
    metadata: ApiObject['metadata'],
    role: string,
    subject: { readonly kind: string; readonly name: string },
  ): [ResourceRef, ApiObject] => {
    const scope = metadata.namespace === undefined ? 'Cluster' : ''
    const roleRef = { apiGroup: group, kind: `${scope}Role`, name: role }
    const kind = `${scope}RoleBinding`
    return [resourceOf(kind), { apiVersion, kind, metadata, roleRef, subjects: [{ apiGroup: group, ...subject }] } as ApiObject]
  }
  const reading = { name: 'kubeadm:bootstrap-signer-clusterinfo', namespace: publicNamespace }
  const joining = { kind: 'Group', name: joiningGroup }
  const requests = `system:certificates.${apiDomain}:certificatesigningrequests`
  return [
    rightsTo('Role', reading, [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [clusterInfoName], verbs: ['get'] }]),
    bindingOf(reading, reading.name, { kind: 'User', name: 'system:anonymous' }),
    rightsTo('ClusterRole', { name: 'kubeadm:get-nodes' }, [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]),
    bindingOf({ name: 'kubeadm:get-nodes' }, 'kubeadm:get-nodes', joining),
    bindingOf({ name: 'kubeadm:kubelet-bootstrap' }, 'system:node-bootstrapper', joining),
    bindingOf({ name: 'kubeadm:node-autoapprove-bootstrap' }, `${requests}:nodeclient`, joining),
    bindingOf({ name: 'kubeadm:node-autoapprove-certificate-rotation' }, `${requests}:selfnodeclient`, {
      kind: 'Group',
      name: 'system:nodes',
    }),
  ]
}
