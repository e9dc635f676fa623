import { hexText } from '@krmkit/base/bytes'
import { digest } from '@krmkit/base/platform'
import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { ignoreCreateConflict, ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'

interface TrustBundle extends ApiObject {
  spec: { signerName?: string; trustBundle: string }
}

/**
 * Publishes the certificate authority of the server as a ClusterTrustBundle for pods that mount it, and deletes previous
 * bundles. Not enabled by default, like the kind itself; disabled without `rootCA`.
 */
export const trustBundlePublisher: Controller = {
  name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
  isDefault: false,
  start({ client, informers, fieldManager, profile, rootCA, signal, queue }) {
    if (rootCA === undefined) return disposeSubscriptions([])
    const group = `certificates.${profile.apiDomain}`
    const [resource, kind] = ['clustertrustbundles', 'ClusterTrustBundle']
    const bundles = resourceType<TrustBundle>({ group, version: 'v1beta1', resource, kind, namespaced: false })
    const signerName = `${profile.domain}/kube-apiserver-serving`
    const known = informers.of(bundles, { fieldSelector: `spec.signerName=${signerName}` })
    const name = `${signerName.replace('/', ':')}:${hexText(digest('sha256', [rootCA]))}`
    const work = queue<'publish'>({
      async sync() {
        if (known.get(name) === undefined) {
          const bundle = { metadata: { name }, spec: { signerName, trustBundle: rootCA } }
          await ignoreCreateConflict(client.create(bundles, bundle, { fieldManager, signal }))
        }
        // Creates the new bundle first, so that one always exists.
        for (const { metadata } of known.list()) {
          if (metadata.name === name || metadata.name === undefined) continue
          const preconditions = metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } }
          await ignoreNotFound(client.delete(bundles, metadata.name, { signal, ...preconditions }))
        }
        return undefined
      },
    })
    const enqueue = (_: DeepReadonly<TrustBundle>) => work.add('publish')
    const unsubscribe = known.on({ added: enqueue, deleted: enqueue })
    void known.synced.then(
      () => work.add('publish'),
      () => undefined,
    )
    return disposeSubscriptions([unsubscribe])
  },
}
