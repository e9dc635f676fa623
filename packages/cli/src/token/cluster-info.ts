import { clusterInfoKey, clusterInfoName } from '@krmkit/certificates/bootstrap'
import { type Client, type ResourceRef, resourceType } from '@krmkit/client'
import { ApiError, type ApiObject, type NamingProfile, stockProfile } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { joiningGroup } from './options.ts'

export interface PublishOptions {
  /** URL of the server for joining nodes. */
  readonly server: string
  /** PEM of the serving authority; undefined: the authorities of the platform are trusted. */
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
 * Publishes the address and authority of the cluster and the RBAC rules for joining nodes, under the names that kubeadm uses. Idempotent:
 * a repeated call updates the address and keeps existing objects.
 *
 * @throws ApiError, ClientError
 */
export async function publishClusterInfo(client: Client, options: PublishOptions): Promise<void> {
  const { profile = stockProfile, fieldManager = 'krmkit', signal } = options
  const namespace = profile.publicNamespace
  const writeOptions = { fieldManager, ...(signal === undefined ? {} : { signal }) }
  for (const [resource, object] of rbacObjects(profile)) await ignoreAlreadyExists(client.create(resource, object, writeOptions))
  const kubeconfig = clusterKubeconfig(options)
  const data = { [clusterInfoKey]: kubeconfig }
  const created = await ignoreAlreadyExists(
    client.create(configMaps, { metadata: { name: clusterInfoName, namespace }, data }, writeOptions),
  )
  if (created !== undefined) return
  const { data: found = {} } = await client.get(configMaps, clusterInfoName, { namespace })
  if (found[clusterInfoKey] === kubeconfig) return
  await client.patch(configMaps, clusterInfoName, { ...writeOptions, namespace, type: 'merge', patch: { data } })
}

/** A kubeconfig with one unnamed cluster and without users. */
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

/** Roles and bindings: anonymous users read cluster-info, joining nodes request certificates, which are approved automatically. */
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
