import type { RuleId, Severity } from '../findings.ts'

/** Manifests with one sort of mistake each. `¦` stands where a finding is expected and is not part of the text. */

export interface PlantedMistake {
  readonly sort: string
  readonly text: string
  /** One for each `¦`, in their order. */
  readonly expected: readonly ExpectedFinding[]
  readonly extension?: '.json' | '.yml'
}

export interface ExpectedFinding {
  readonly rule: RuleId
  readonly path: string
  readonly severity?: Severity
  /** Part of the message. */
  readonly says?: string
}

const deployment = (parts: { spec?: string; pod?: string; container?: string; labels?: string }) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
spec:
${parts.spec ?? '  replicas: 2\n'}  selector:
    matchLabels:
      app: NAME
  template:
    metadata:
      labels:
${parts.labels ?? '        app: NAME\n'}    spec:
${parts.pod ?? ''}      containers:
      - name: app
        image: nginx:1
${parts.container ?? ''}`

const service = (spec: string) => `apiVersion: v1
kind: Service
metadata:
  name: NAME
spec:
  selector:
    app: NAME
${spec}`

const configMap = (rest: string, metadata = '') => `apiVersion: v1
kind: ConfigMap
metadata:
  name: NAME
${metadata}${rest}`

export const widgetDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.shop.example.com
spec:
  group: shop.example.com
  scope: Namespaced
  names:
    plural: widgets
    kind: Widget
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size:
                type: integer
                minimum: 1
              color:
                type: string
                enum: [red, green]
              tags:
                type: array
                x-kubernetes-list-type: set
                items:
                  type: string
  - name: v1alpha1
    served: true
    storage: false
    deprecated: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
  - name: v0
    served: false
    storage: false
    schema:
      openAPIV3Schema:
        type: object
`

const widget = (spec: string, apiVersion = 'shop.example.com/v1') => `apiVersion: ${apiVersion}
kind: Widget
metadata:
  name: NAME
spec:
${spec}`

const one = (rule: RuleId, path: string, says?: string): readonly ExpectedFinding[] => [
  { rule, path, ...(says === undefined ? {} : { says }) },
]
const app = 'spec.template.spec.containers[0]'

export const plantedMistakes: readonly PlantedMistake[] = [
  {
    sort: 'text where a number belongs',
    text: deployment({ spec: '  replicas: ¦"2"\n' }),
    expected: one('type', 'spec.replicas', 'expected an integer of 32 bits, found string'),
  },
  {
    sort: 'a number where text belongs',
    text: configMap('data:\n  port: ¦8080\n'),
    expected: one('type', 'data.port', 'expected a string, found number'),
  },
  {
    sort: 'a boolean where text belongs',
    text: configMap('data:\n  debug: ¦yes\n'),
    expected: one('type', 'data.debug', 'found boolean'),
  },
  {
    sort: 'an object where a list belongs',
    text: deployment({ container: '        ¦ports:\n          containerPort: 80\n' }),
    expected: one('type', `${app}.ports`, 'expected a list, found object'),
  },
  {
    sort: 'a fraction where a whole number belongs',
    text: deployment({ spec: '  replicas: ¦1.5\n' }),
    expected: one('type', 'spec.replicas', 'found number 1.5'),
  },
  {
    sort: 'several wrong types at once',
    text: deployment({ spec: '  replicas: ¦two\n  paused: ¦"no"\n', container: '        tty: ¦1\n' }),
    expected: [
      { rule: 'type', path: 'spec.replicas' },
      { rule: 'type', path: 'spec.paused' },
      { rule: 'type', path: `${app}.tty` },
    ],
  },
  {
    sort: 'an unknown field',
    text: deployment({ container: '        ¦imagePullPolice: Always\n' }),
    expected: one('unknown-field', `${app}.imagePullPolice`),
  },
  {
    sort: 'a field of the wrong case',
    text: deployment({ spec: '  ¦Replicas: 2\n' }),
    expected: one('unknown-field', 'spec.Replicas'),
  },
  {
    sort: 'a field at the wrong level',
    text: service('  ports:\n  - port: 80\n¦type: NodePort\n'),
    expected: one('unknown-field', 'type'),
  },
  {
    sort: 'a repeated key',
    text: deployment({ spec: '  replicas: 2\n  ¦replicas: 3\n' }),
    expected: one('duplicate-field', 'spec.replicas'),
  },
  {
    sort: 'a repeated key in JSON',
    extension: '.json',
    text: '{\n  "apiVersion": "v1",\n  "kind": "ConfigMap",\n  "metadata": {"name": "NAME"},\n  "data": {"a": "1", ¦"a": "2"}\n}\n',
    expected: one('duplicate-field', 'data.a'),
  },
  {
    sort: 'a missing required field',
    text: deployment({}).replace('      - name: app\n        image: nginx:1\n', '      - ¦name: app\n'),
    expected: one('required', `${app}.image`),
  },
  {
    sort: 'no containers',
    text: deployment({}).replace('      containers:\n      - name: app\n        image: nginx:1\n', '      ¦containers: []\n'),
    expected: one('required', 'spec.template.spec.containers'),
  },
  {
    sort: 'no name',
    text: configMap('data: {}\n').replace('metadata:\n  name: NAME\n', '¦metadata:\n  labels: {}\n'),
    expected: one('required', 'metadata.name', 'name or generateName is required'),
  },
  {
    sort: 'a value that is none of the allowed ones',
    text: deployment({ container: '        imagePullPolicy: ¦Sometimes\n' }),
    expected: one('not-supported', `${app}.imagePullPolicy`, '"Always", "IfNotPresent", "Never"'),
  },
  {
    sort: 'a restart policy that a deployment cannot have',
    text: deployment({ pod: '      restartPolicy: ¦Never\n' }),
    expected: one('not-supported', 'spec.template.spec.restartPolicy'),
  },
  {
    sort: 'a name with capitals',
    text: configMap('data: {}\n').replace('  name: NAME', '  name: ¦My_NAME'),
    expected: one('invalid', 'metadata.name', 'lowercase RFC 1123 subdomain'),
  },
  {
    sort: 'a namespace that is no label',
    text: configMap('data: {}\n', '  namespace: ¦a.b\n'),
    expected: one('invalid', 'metadata.namespace'),
  },
  {
    sort: 'a label value with a space',
    text: configMap('data: {}\n', '  ¦labels:\n    app: my app\n'),
    expected: one('invalid', 'metadata.labels', 'a valid label must be'),
  },
  {
    sort: 'a label key with two slashes',
    text: configMap('data: {}\n', '  ¦labels:\n    a/b/c: d\n'),
    expected: one('invalid', 'metadata.labels', 'a/b/c'),
  },
  {
    sort: 'a quantity that is none',
    text: deployment({ container: '        resources:\n          limits:\n            memory: ¦1Gig\n' }),
    expected: one('value', `${app}.resources.limits.memory`),
  },
  {
    sort: 'a request above its limit',
    text: deployment({
      container: '        resources:\n          limits:\n            cpu: 100m\n          ¦requests:\n            cpu: 200m\n',
    }),
    expected: one('invalid', `${app}.resources.requests`, 'must be less than or equal to cpu limit'),
  },
  {
    sort: 'a port out of range',
    text: service('  ports:\n  - ¦port: ¦70000\n'),
    expected: [
      { rule: 'invalid', path: 'spec.ports[0].targetPort' },
      { rule: 'invalid', path: 'spec.ports[0].port', says: 'between 1 and 65535' },
    ],
  },
  {
    sort: 'a container port out of range',
    text: deployment({ container: '        ports:\n        - containerPort: ¦0\n' }),
    expected: one('required', `${app}.ports[0].containerPort`),
  },
  {
    sort: 'a port name that is too long',
    text: deployment({ container: '        ports:\n        - containerPort: 80\n          name: ¦a-name-beyond-fifteen\n' }),
    expected: one('invalid', `${app}.ports[0].name`, 'must be no more than 15 characters'),
  },
  {
    sort: 'several ports without names',
    text: service('  ports:\n  - ¦port: 80\n  - ¦port: 81\n'),
    expected: [
      { rule: 'required', path: 'spec.ports[0].name' },
      { rule: 'required', path: 'spec.ports[1].name' },
    ],
  },
  {
    sort: 'the same port twice',
    text: service('  ports:\n  - port: 80\n    name: a\n  - ¦port: 80\n    name: b\n'),
    expected: one('duplicate', 'spec.ports[1]'),
  },
  {
    sort: 'a selector that does not match',
    text: deployment({ labels: '        app: other\n' }).replace('    metadata:\n      labels', '    metadata:\n      ¦labels'),
    expected: one('invalid', 'spec.template.metadata.labels', '`selector` does not match template `labels`'),
  },
  {
    sort: 'containers of one name',
    text: deployment({ container: '      - name: ¦app\n        image: busybox\n' }),
    expected: one('duplicate', 'spec.template.spec.containers[1].name'),
  },
  {
    sort: 'a mount without its volume',
    text: deployment({ container: '        volumeMounts:\n        - name: ¦data\n          mountPath: /data\n' }),
    expected: one('not-found', `${app}.volumeMounts[0].name`),
  },
  {
    sort: 'two mounts at one path',
    text: deployment({
      pod: '      volumes:\n      - name: data\n        emptyDir: {}\n',
      container:
        '        volumeMounts:\n        - name: data\n          mountPath: /data\n        - name: data\n          mountPath: ¦/data\n',
    }),
    expected: one('invalid', `${app}.volumeMounts[1].mountPath`, 'must be unique'),
  },
  {
    sort: 'a volume of two sources',
    text: deployment({
      pod: '      volumes:\n      - name: data\n        emptyDir: {}\n        ¦configMap:\n          name: a\n',
    }),
    expected: one('forbidden', 'spec.template.spec.volumes[0].configMap', 'may not specify more than 1 volume type'),
  },
  {
    sort: 'a volume without a name',
    text: deployment({ pod: '      volumes:\n      - ¦emptyDir: {}\n' }),
    expected: one('required', 'spec.template.spec.volumes[0].name'),
  },
  {
    sort: 'value and valueFrom',
    text: deployment({
      container:
        '        env:\n        - name: A\n          value: b\n          ¦valueFrom:\n            fieldRef:\n              fieldPath: metadata.name\n',
    }),
    expected: one('invalid', `${app}.env[0].valueFrom`, 'may not be specified when `value` is not empty'),
  },
  {
    sort: 'a probe of two handlers',
    text: deployment({
      container:
        '        livenessProbe:\n          httpGet:\n            port: 80\n          ¦tcpSocket:\n            port: 80\n',
    }),
    expected: one('forbidden', `${app}.livenessProbe.tcpSocket`, 'may not specify more than 1 handler type'),
  },
  {
    sort: 'a negative number of replicas',
    text: deployment({ spec: '  replicas: ¦-1\n' }),
    expected: one('invalid', 'spec.replicas', 'must be greater than or equal to 0'),
  },
  {
    sort: 'a schedule that is none',
    text: `apiVersion: batch/v1
kind: CronJob
metadata:
  name: NAME
spec:
  schedule: ¦every day
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: a
            image: b
`,
    expected: one('invalid', 'spec.schedule'),
  },
  {
    sort: 'a job whose containers would be restarted for ever',
    text: `apiVersion: batch/v1
kind: Job
metadata:
  name: NAME
spec:
  ¦template:
    spec:
      containers:
      - name: a
        image: b
`.replace('  ¦template:\n    spec:', '  template:\n    ¦spec:'),
    expected: one('required', 'spec.template.spec.restartPolicy'),
  },
  {
    sort: 'an ingress path that does not begin with a slash',
    text: `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: NAME
spec:
  rules:
  - host: a.example.com
    http:
      paths:
      - path: ¦api
        pathType: Prefix
        backend:
          service:
            name: api
            port:
              number: 80
`,
    expected: one('invalid', 'spec.rules[0].http.paths[0].path', 'must be an absolute path'),
  },
  {
    sort: 'a role rule without verbs',
    text: `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: NAME
rules:
- ¦apiGroups: [""]
  resources: [pods]
`,
    expected: one('required', 'rules[0].verbs'),
  },
  {
    sort: 'a secret that is no base64',
    text: 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: NAME\ndata:\n  password: ¦"not base64!"\n',
    expected: one('value', 'data.password', 'illegal base64'),
  },
  {
    sort: 'a key of a config map that is no file name',
    text: configMap('data:\n  ? a/b\n  : ¦c\n'),
    expected: one('invalid', 'data[a/b]', 'a valid config key must consist of'),
  },
  {
    sort: 'a claim without a size',
    text: `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: NAME
spec:
  accessModes: [ReadWriteOnce]
  ¦resources: {}
`,
    expected: one('required', 'spec.resources[storage]'),
  },
  {
    sort: 'YAML that cannot be read',
    text: `${configMap('data:\n  a: b')}¦: c\n`,
    expected: one('syntax', '', 'mapping values are not allowed in this context'),
  },
  {
    sort: 'a tab for indentation',
    text: configMap('data:\n¦\ta: b\n'),
    expected: one('syntax', '', 'found character that cannot start any token'),
  },
  {
    sort: 'JSON with a comma too many',
    extension: '.json',
    text: '{\n  "apiVersion": "v1",\n  "kind": "ConfigMap",\n  "metadata": {"name": "NAME"},\n¦}\n',
    expected: one('syntax', '', "invalid character '}'"),
  },
  {
    sort: 'a kind that does not exist',
    text: deployment({}).replace('kind: Deployment', 'kind: ¦Deploymnet'),
    expected: one('unknown-kind', 'kind', 'did you mean Deployment?'),
  },
  {
    sort: 'a kind of another group',
    text: deployment({}).replace('apps/v1\nkind: Dep', 'v1\nkind: ¦Dep'),
    expected: one('unknown-kind', 'kind', 'Deployment is in apps/v1'),
  },
  {
    sort: 'no apiVersion',
    text: configMap('data: {}\n').replace('apiVersion: v1\n', '¦'),
    expected: one('missing-kind', 'apiVersion'),
  },
  {
    sort: 'no kind',
    text: configMap('data: {}\n').replace('apiVersion: v1\nkind: ConfigMap\n', '¦apiVersion: v1\n'),
    expected: one('missing-kind', 'kind'),
  },
  {
    sort: 'no object at all',
    text: '¦- a\n- b\n',
    expected: one('no-object', '', 'found a list'),
  },
  {
    sort: 'a version that is gone',
    text: 'apiVersion: ¦extensions/v1beta1\nkind: Ingress\nmetadata:\n  name: NAME\n',
    expected: one('removed-version', 'apiVersion', 'went with 1.22; use networking.k8s.io/v1 Ingress'),
  },
  {
    sort: 'a deprecated version',
    text: 'apiVersion: ¦v1\nkind: Endpoints\nmetadata:\n  name: NAME\n',
    expected: [{ rule: 'deprecated-version', path: 'apiVersion', severity: 'warning', says: 'deprecated in v1.33+' }],
  },
  {
    sort: 'a version that is not served',
    text: `apiVersion: ¦networking.k8s.io/v1beta1
kind: IPAddress
metadata:
  name: 10.0.0.1
spec:
  parentRef:
    resource: services
    namespace: a
    name: NAME
`,
    expected: [{ rule: 'unserved-version', path: 'apiVersion', severity: 'warning' }],
  },
  {
    sort: 'a namespace where none belongs',
    text: `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: NAME
  namespace: ¦kube-system
rules: []
`,
    expected: [{ rule: 'no-namespace', path: 'metadata.namespace', severity: 'warning' }],
  },
  {
    sort: 'a field that the server warns about',
    text: deployment({
      pod: '      serviceAccount: robot\n      volumes:\n      - name: code\n        ¦gitRepo:\n          repository: https://example.com\n',
    }),
    expected: [{ rule: 'questionable', path: 'spec.template.spec.volumes[0].gitRepo', severity: 'warning', says: 'deprecated' }],
  },
  {
    sort: 'an object twice in a file',
    text: `${configMap('data: {}\n')}---\n${configMap('data: {}\n').replace('  name: NAME', '  name: ¦NAME')}`,
    expected: one('duplicate-object', 'metadata.name', 'described at line 4 already'),
  },
  {
    sort: 'a mistake in the second document',
    text: `# first\n${configMap('data: {}\n')}---\n# second\n${deployment({ spec: '  replicas: ¦-3\n' })}`,
    expected: one('invalid', 'spec.replicas'),
  },
  {
    sort: 'a mistake in an item of a list',
    text: `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: NAME
- apiVersion: v1
  kind: Service
  metadata:
    name: NAME
  spec:
    ports:
    - port: 80
      protocol: ¦http
`,
    expected: one('not-supported', 'spec.ports[0].protocol'),
  },
  {
    sort: 'an item of a typed list',
    text: 'apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata:\n    name: NAME\n  ¦date: {}\n',
    expected: one('unknown-field', 'date'),
  },
  {
    sort: 'a custom resource that breaks its schema',
    text: widget('  size: ¦0\n  color: ¦blue\n'),
    expected: [
      { rule: 'invalid', path: 'spec.size', says: 'greater than or equal to 1' },
      { rule: 'not-supported', path: 'spec.color' },
    ],
  },
  {
    sort: 'a custom resource of a wrong type',
    text: widget('  size: ¦"3"\n'),
    expected: one('type', 'spec.size', 'must be of type integer'),
  },
  {
    sort: 'a custom resource without what it must have',
    text: widget('  color: red\n').replace('spec:\n', '¦spec:\n'),
    expected: one('required', 'spec.size'),
  },
  {
    sort: 'an unknown field of a custom resource',
    text: widget('  size: 1\n  ¦weight: 2\n'),
    expected: one('unknown-field', 'spec.weight'),
  },
  {
    sort: 'a set with the same item twice',
    text: widget('  size: 1\n  tags: [a, b, ¦a]\n'),
    expected: one('duplicate', 'spec.tags[2]'),
  },
  {
    sort: 'a deprecated version of a custom resource',
    text: widget('  size: 1\n', '¦shop.example.com/v1alpha1'),
    expected: [{ rule: 'deprecated-version', path: 'apiVersion', severity: 'warning', says: 'use shop.example.com/v1 Widget' }],
  },
  {
    sort: 'a version of a custom resource that is not served',
    text: widget('  size: 1\n', 'shop.example.com/v0').replace('kind: Widget', 'kind: ¦Widget'),
    expected: one('unknown-kind', 'kind', 'does not serve v0, but v1, v1alpha1'),
  },
  {
    sort: 'a custom resource that nothing defines',
    text: 'apiVersion: other.example.com/v1\nkind: ¦Gadget\nmetadata:\n  name: NAME\n',
    expected: one('missing-definition', 'kind', 'no definition of other.example.com/v1 Gadget'),
  },
  {
    sort: 'a definition whose name is not that of its group',
    text: widgetDefinition
      .replaceAll('shop.example.com', 'NAME.example.com')
      .replace('name: widgets.NAME.example.com', 'name: ¦widgets.example.com'),
    expected: one('invalid', 'metadata.name', 'must be spec.names.plural+"."+spec.group'),
  },
  {
    sort: 'a mistake behind Windows line ends',
    text: deployment({ spec: '  replicas: ¦-1\n' }).replaceAll('\n', '\r\n'),
    expected: one('invalid', 'spec.replicas'),
  },
]
