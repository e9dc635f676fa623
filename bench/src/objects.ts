/** The objects of the workloads, with the sizes and shapes of the load generator in ../shared/bench. */

const payload = '0123456789abcdef'.repeat(64)

/** About 1.2 KiB with one label of ten values, so that a selector matches a tenth. */
export function configMap(name: string, value: number, namespace?: string) {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), labels: { app: 'bench', shard: `s${value % 10}` } },
    data: { v: String(value), payload },
  }
}

/** Two containers with ports, environment, resources, a probe and a volume. */
export function deployment(name: string, replicas: number) {
  const labels = { app: 'web', tier: 'front' }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'web:1',
              ports: [
                { containerPort: 80, name: 'http' },
                { containerPort: 443, name: 'https' },
              ],
              env: [
                { name: 'A', value: '1' },
                { name: 'B', value: '2' },
              ],
              resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } },
              readinessProbe: { httpGet: { path: '/', port: 'http' } },
            },
            { name: 'side', image: 'side:1', args: ['a', 'b'] },
          ],
          volumes: [{ name: 'cfg', configMap: { name: 'cfg' } }],
        },
      },
    },
  }
}

export function pod(name: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'web', image: 'web:1' }] },
  }
}

export function bytesOf(object: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(object))
}
