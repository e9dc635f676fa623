/** Benchmarks deprecations and conversion of a thousand manifests, and prints the results as JSON. */
import { readManifest } from '@krmkit/schema/manifest'
import { convertManifest, findDeprecations } from '@krmkit/versioning'

const size = Number(process.argv[2] ?? 1000)

const ingress = (name: string) => `# Source: chart/templates/${name}.yaml
apiVersion: networking.k8s.io/v1beta1
kind: Ingress
metadata:
  name: ${name}
  labels: {app: ${name}}
spec:
  rules:
  - host: ${name}.example.com
    http:
      paths:
      - path: / # the root
        backend:
          serviceName: ${name}
          servicePort: 80
`
const deployment = (name: string) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: 2
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      nodeSelector: {kubernetes.io/arch: amd64}
      containers:
      - name: app
        image: example.com/${name}:1
        ports:
        - containerPort: 8080
        resources: {requests: {cpu: 100m, memory: 64Mi}}
`
const texts = Array.from({ length: size }, (_, i) => (i % 4 === 0 ? ingress(`app-${i}`) : deployment(`app-${i}`)))

function milliseconds(run: () => unknown): number {
  // The second run, with compiled code.
  run()
  const started = performance.now()
  run()
  return performance.now() - started
}

const documents = () => texts.flatMap((text) => readManifest(text))
const values = () => documents().map((document) => (document.kind === 'document' ? document.value : undefined))
const parsed = values()
const rows = [
  { step: 'read', ms: milliseconds(documents) },
  { step: 'find deprecations of objects', ms: milliseconds(() => findDeprecations(parsed, { release: '1.25' })) },
  { step: 'read, and find deprecations', ms: milliseconds(() => findDeprecations(values(), { release: '1.25' })) },
  { step: 'convert, a quarter of them', ms: milliseconds(() => texts.map((text) => convertManifest(text, { release: '1.25' }))) },
]
process.stdout.write(`${JSON.stringify(rows)}\n`)
