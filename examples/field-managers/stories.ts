/** The scenarios of the page: sequences of apply operations. */

export type Side = 'a' | 'b'

export interface Story {
  readonly title: string
  readonly steps: readonly { readonly side: Side; readonly yaml: string }[]
}

const head = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n'
const app = `spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: app
        image: nginx:1.27
`
const proxy = `  template:
    spec:
      containers:
      - name: proxy
        image: envoy:1.31
        env:
        - name: LOG_LEVEL
          value: info
`
const base = `${head}  labels:\n    team: shop\n${app}`

export const stories: readonly Story[] = [
  {
    title: 'two parts of one list',
    steps: [
      { side: 'a', yaml: base },
      { side: 'b', yaml: `${head}spec:\n${proxy}` },
    ],
  },
  {
    title: 'a conflict',
    steps: [
      { side: 'a', yaml: base },
      { side: 'b', yaml: `${head}  labels:\n    team: shop\nspec:\n${proxy}` },
      { side: 'b', yaml: `${head}  labels:\n    team: shop\nspec:\n  replicas: 5\n${proxy}` },
    ],
  },
  {
    title: 'sharing',
    steps: [
      { side: 'a', yaml: base },
      { side: 'b', yaml: `${head}  labels:\n    team: shop\nspec:\n  replicas: 3\n` },
    ],
  },
  {
    title: 'handing over',
    steps: [
      { side: 'a', yaml: base },
      { side: 'b', yaml: `${head}spec:\n  replicas: 3\n` },
      { side: 'a', yaml: base.replace('  replicas: 3\n', '') },
      { side: 'b', yaml: `${head}spec:\n  replicas: 8\n` },
    ],
  },
  {
    title: 'what its last owner leaves out goes',
    steps: [
      { side: 'a', yaml: base },
      { side: 'a', yaml: base.replace('  labels:\n    team: shop\n', '') },
    ],
  },
]
