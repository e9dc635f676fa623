/** The objects of the field management benchmarks, with the sizes of docs/reference/generated/performance.md. */

/** A Deployment with 60 fields besides apiVersion and kind. */
export function sixtyFields(replicas: number) {
  const labels = { app: 'web', tier: 'front', track: 'stable' }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'bench', labels, annotations: { team: 'a', contact: 'b' } },
    spec: {
      replicas,
      revisionHistoryLimit: 5,
      progressDeadlineSeconds: 300,
      minReadySeconds: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: 'web',
          terminationGracePeriodSeconds: 20,
          nodeSelector: { 'example.com/pool': 'a' },
          securityContext: { runAsNonRoot: true, runAsUser: 1000 },
          containers: [
            {
              name: 'web',
              image: 'web:1',
              imagePullPolicy: 'Always',
              args: ['--listen', '--verbose'],
              ports: [
                { containerPort: 80, name: 'http' },
                { containerPort: 443, name: 'https' },
              ],
              env: [
                { name: 'A', value: '1' },
                { name: 'B', value: '2' },
                { name: 'C', value: '3' },
              ],
              resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } },
              readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 5, timeoutSeconds: 2 },
              livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 10 },
              volumeMounts: [{ name: 'cfg', mountPath: '/etc/web' }],
            },
            { name: 'side', image: 'side:1', args: ['a', 'b'], env: [{ name: 'A', value: '1' }] },
          ],
          volumes: [{ name: 'cfg', configMap: { name: 'cfg' } }],
        },
      },
    },
  }
}

/** @param value of the last entry, which changes. */
export function entriesConfigMap(entries: number, value: string) {
  const data = Object.fromEntries(Array.from({ length: entries }, (_, i) => [`key-${i}`, `value ${i}`]))
  data[`key-${entries - 1}`] = value
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'entries', namespace: 'bench' }, data }
}

/** @param value of a variable of the last container, which changes. */
export function manyContainers(containers: number, value: string) {
  const one = (i: number) => ({
    name: `c-${i}`,
    image: 'web:1',
    ports: [{ containerPort: 8000 + i, name: `port-${i}` }],
    env: [
      { name: 'A', value: '1' },
      { name: 'B', value: i === containers - 1 ? value : '2' },
    ],
    resources: { requests: { cpu: '10m', memory: '16Mi' } },
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'many', namespace: 'bench' },
    spec: { containers: Array.from({ length: containers }, (_, i) => one(i)) },
  }
}
