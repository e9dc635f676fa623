import { type Json, podTemplate, type Scenario } from '../scenario.ts'
import { deployment, isComplete } from './deployments.ts'

const web = 'apps/v1/deployments/web'

const service = (name: string, spec: Json, metadata: Json = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, ...metadata },
  spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
})

const ports = [
  { name: 'http', containerPort: 8080 },
  { name: 'dns', containerPort: 53, protocol: 'UDP' },
]

export const services: readonly Scenario[] = [
  {
    name: 'service-slices',
    run: async (namespace) => {
      await namespace.create(service('plain', {}, { labels: { team: 'a' }, annotations: { note: 'b' } }))
      await namespace.create(
        service('named', {
          ports: [
            { name: 'web', port: 80, targetPort: 'http', appProtocol: 'kubernetes.io/h2c' },
            { name: 'dns', port: 53, targetPort: 'dns', protocol: 'UDP' },
            { name: 'absent', port: 81, targetPort: 'absent' },
          ],
        }),
      )
      await namespace.create(service('headless', { clusterIP: 'None' }))
      await namespace.create(service('headless-without-ports', { clusterIP: 'None', ports: [] }))
      await namespace.create(service('early', { publishNotReadyAddresses: true }))
      await namespace.create(service('close', { trafficDistribution: 'PreferClose' }))
      await namespace.create(
        service('external', { type: 'ExternalName', externalName: 'example.com', selector: { app: 'web' }, ports: [] }),
      )
      await namespace.create(service('nothing', { selector: { app: 'absent' } }))
      await namespace.create(deployment({ template: podTemplate('web', {}, { ports }) }))
      await namespace.until(web, isComplete)
    },
  },
  {
    name: 'service-unready',
    run: async (namespace) => {
      await namespace.create(service('plain', {}))
      await namespace.create(service('early', { publishNotReadyAddresses: true }))
      const annotations = { 'simulation.krmkit.dev/ready-after': '10m' }
      const template = podTemplate('web', { hostname: 'named', subdomain: 'plain' }, { ports })
      await namespace.create(deployment({ template: { ...template, metadata: { ...template.metadata, annotations } } }))
      await namespace.untilPods('app=web', (pods) => pods.length === 3 && pods.every(({ status }) => status.phase === 'Running'))
    },
  },
  {
    name: 'service-terminating',
    run: async (namespace) => {
      await namespace.create(service('plain', {}))
      const template = podTemplate('web', { terminationGracePeriodSeconds: 600 })
      const annotations = { 'simulation.krmkit.dev/stop-after': '5m' }
      await namespace.create(deployment({ template: { ...template, metadata: { ...template.metadata, annotations } } }))
      await namespace.until(web, isComplete)
      await namespace.merge(web, { spec: { replicas: 1 } })
      await namespace.wait(3)
    },
  },
  {
    name: 'service-changed',
    run: async (namespace) => {
      await namespace.create(service('plain', {}))
      await namespace.create(deployment({}))
      await namespace.until(web, isComplete)
      await namespace.wait(2)
      await namespace.merge('v1/services/plain', {
        metadata: { labels: { a: 'b' } },
        spec: { ports: [{ port: 80, targetPort: 9090 }] },
      })
      await namespace.wait(2)
      await namespace.merge(web, { spec: { replicas: 0 } })
      await namespace.until(web, isComplete)
    },
  },
  {
    name: 'service-deleted',
    run: async (namespace) => {
      await namespace.create(service('plain', {}))
      await namespace.wait(2)
      await namespace.delete('v1/services/plain')
      await namespace.wait(2)
    },
  },
  {
    name: 'service-mirrored',
    run: async (namespace) => {
      await namespace.create({ ...service('own', {}), spec: { ports: [{ name: 'a', port: 80, targetPort: 8080 }] } })
      const subsets = [
        {
          addresses: [
            { ip: '192.0.2.1', hostname: 'one' },
            { ip: '192.0.2.2', nodeName: 'node-1' },
          ],
          notReadyAddresses: [{ ip: '192.0.2.3' }],
          ports: [{ name: 'a', port: 8080 }],
        },
        { addresses: [{ ip: '2001:db8::1' }], ports: [{ name: 'b', port: 9090, protocol: 'UDP', appProtocol: 'dns' }] },
      ]
      await namespace.create({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'own', labels: { a: 'b' }, annotations: { c: 'd' } },
        subsets,
      })
      await namespace.create({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'without-service' }, subsets })
      await namespace.create({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'skipped', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
        subsets,
      })
      await namespace.create({ ...service('skipped', {}), spec: { ports: [{ port: 80 }] } })
    },
  },
]
