/** Objects that several tests use. */

export function pod(
  name: string,
  more: { readonly labels?: Record<string, string>; readonly node?: string; readonly metadata?: object } = {},
): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: more.labels ?? { app: name }, ...more.metadata },
    spec: {
      containers: [{ name: 'main', image: 'registry.example.com/main:1', ports: [{ name: 'http', containerPort: 8080 }] }],
      ...(more.node === undefined ? {} : { nodeName: more.node }),
    },
  }
}

export function deployment(name: string, more: { readonly replicas?: number; readonly image?: string } = {}): object {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas: more.replicas ?? 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'main', image: more.image ?? 'registry.example.com/main:1', ports: [{ containerPort: 8080 }] }],
        },
      },
    },
  }
}

export function configMap(name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}): object {
  // Without empty members, which kubectl would apply every time.
  const metadata = Object.keys(labels).length === 0 ? { name } : { name, labels }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...(Object.keys(data).length === 0 ? {} : { data }) }
}

/** The status of a completed deployment. */
export function rolledOut(replicas: number, observedGeneration: number): string {
  const condition = { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'there are enough' }
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas }
  return JSON.stringify({ status: { observedGeneration, ...counts, conditions: [condition] } })
}
