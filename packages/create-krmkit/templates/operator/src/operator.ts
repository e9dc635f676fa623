import type { Controller } from '@krmkit/controllers'
import { ignoreNotFound } from '@krmkit/controllers/framework'
import { Deployment } from '@krmkit/kinds/apps/v1'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { Website, type WebsiteSpec } from './website.ts'

const fieldManager = 'website-operator'
/** Label of the deployments that the operator owns: the name of their website. */
const websiteLabel = 'apps.example.com/website'

/** Maintains a Deployment for each Website, reverts changes of it, and reports its ready replicas. */
export const websiteOperator: Controller = {
  name: 'website-operator',
  start({ client, informers, queue }) {
    const websites = informers.of(Website)
    const deployments = informers.of(Deployment)
    const work = queue<string>({
      async sync(key) {
        await deployments.synced
        const [namespace = '', name = ''] = key.split('/')
        const website = websites.get(name, namespace)
        // The garbage collector deletes what a deleted website owned.
        if (website === undefined || website.metadata.deletionTimestamp !== undefined) return undefined
        const { uid = '' } = website.metadata
        // `force` takes fields back from other managers. An unchanged Deployment is not written again.
        await client.apply(Deployment, deploymentOf({ name, namespace, uid, spec: website.spec }), { fieldManager, force: true })
        const readyReplicas = deployments.get(name, namespace)?.status?.readyReplicas ?? 0
        if (website.status?.readyReplicas === readyReplicas) return undefined
        const patch = { status: { readyReplicas } }
        await ignoreNotFound(client.patch(Website, name, { namespace, subresource: 'status', type: 'merge', patch }))
        return undefined
      },
    })
    const enqueue = ({ metadata }: DeepReadonly<ApiObject>) => work.add(`${metadata.namespace}/${metadata.name}`)
    const enqueueOwner = ({ metadata }: DeepReadonly<ApiObject>) => {
      const name = metadata.labels?.[websiteLabel]
      if (name !== undefined) work.add(`${metadata.namespace}/${name}`)
    }
    const stopWebsites = websites.on({ added: enqueue, updated: enqueue })
    const stopDeployments = deployments.on({ updated: enqueueOwner, deleted: enqueueOwner })
    return {
      async [Symbol.asyncDispose]() {
        stopWebsites()
        stopDeployments()
      },
    }
  },
}

/** The fields that the operator owns. */
function deploymentOf({ name, namespace, uid, spec }: { name: string; namespace: string; uid: string; spec: WebsiteSpec }) {
  const labels = { [websiteLabel]: name }
  const command = ['sh', '-c', 'mkdir /www && echo "$PAGE" > /www/index.html && exec httpd -f -p 8080 -h /www']
  const owner = { apiVersion: 'apps.example.com/v1', kind: 'Website', name, uid, controller: true }
  return {
    metadata: { name, namespace, labels, ownerReferences: [owner] },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'busybox:1.37',
              command,
              env: [{ name: 'PAGE', value: spec.html }],
              ports: [{ containerPort: 8080 }],
            },
          ],
        },
      },
    },
  }
}
