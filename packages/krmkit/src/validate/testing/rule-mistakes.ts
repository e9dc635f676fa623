import type { ManifestMistake } from './manifest-mistake.ts'
import { configMap, deployment, one, widget, widgetDefinition } from './templates.ts'

/** Violated rules of kinds, broken documents, and custom resources. */
export const ruleMistakes: readonly ManifestMistake[] = [
  {
    title: 'a negative number of replicas',
    text: deployment({ spec: '  replicas: ¦-1\n' }),
    expected: one('invalid', 'spec.replicas', 'must be greater than or equal to 0'),
  },
  {
    title: 'a schedule that is none',
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
    title: 'a job whose containers would be restarted for ever',
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
    title: 'an ingress path that does not begin with a slash',
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
    title: 'a role rule without verbs',
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
    title: 'a secret that is no base64',
    text: 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: NAME\ndata:\n  password: ¦"not base64!"\n',
    expected: one('value', 'data.password', 'illegal base64'),
  },
  {
    title: 'a key of a config map that is no file name',
    text: configMap('data:\n  ? a/b\n  : ¦c\n'),
    expected: one('invalid', 'data[a/b]', 'a valid config key must consist of'),
  },
  {
    title: 'a claim without a size',
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
    title: 'YAML that cannot be read',
    text: `${configMap('data:\n  a: b')}¦: c\n`,
    expected: one('syntax', '', 'mapping values are not allowed in this context'),
  },
  {
    title: 'a tab for indentation',
    text: configMap('data:\n¦\ta: b\n'),
    expected: one('syntax', '', 'found character that cannot start any token'),
  },
  {
    title: 'JSON with a comma too many',
    extension: '.json',
    text: '{\n  "apiVersion": "v1",\n  "kind": "ConfigMap",\n  "metadata": {"name": "NAME"},\n¦}\n',
    expected: one('syntax', '', "invalid character '}'"),
  },
  {
    title: 'a kind that does not exist',
    text: deployment({}).replace('kind: Deployment', 'kind: ¦Deploymnet'),
    expected: one('unknown-kind', 'kind', 'did you mean Deployment?'),
  },
  {
    title: 'a kind that is part of requests',
    text: 'apiVersion: autoscaling/v1\nkind: ¦Scale\nmetadata:\n  name: NAME\n',
    expected: one('unknown-kind', 'kind', 'part of requests'),
  },
  {
    title: 'a key that YAML takes for a boolean',
    text: widget('  size: 1\n  ¦on: 2\n'),
    expected: one('unknown-field', 'spec.true', 'put them in quotes'),
  },
  {
    title: 'a kind of another group',
    text: deployment({}).replace('apps/v1\nkind: Dep', 'v1\nkind: ¦Dep'),
    expected: one('unknown-kind', 'kind', 'Deployment is in apps/v1'),
  },
  {
    title: 'no apiVersion',
    text: configMap('data: {}\n').replace('apiVersion: v1\n', '¦'),
    expected: one('missing-kind', 'apiVersion'),
  },
  {
    title: 'no kind',
    text: configMap('data: {}\n').replace('apiVersion: v1\nkind: ConfigMap\n', '¦apiVersion: v1\n'),
    expected: one('missing-kind', 'kind'),
  },
  {
    title: 'no object at all',
    text: '¦- a\n- b\n',
    expected: one('no-object', '', 'found a list'),
  },
  {
    title: 'a version that is gone',
    text: 'apiVersion: ¦extensions/v1beta1\nkind: Ingress\nmetadata:\n  name: NAME\n',
    expected: one('removed-version', 'apiVersion', 'was removed in Kubernetes 1.22; use networking.k8s.io/v1 Ingress'),
  },
  {
    title: 'a deprecated version',
    text: 'apiVersion: ¦v1\nkind: Endpoints\nmetadata:\n  name: NAME\n',
    expected: [{ rule: 'deprecated-version', path: 'apiVersion', severity: 'warning', says: 'deprecated in v1.33+' }],
  },
  {
    title: 'a version that is not served',
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
    title: 'a namespace where none belongs',
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
    title: 'a field that the server warns about',
    text: deployment({
      pod: '      serviceAccount: robot\n      volumes:\n      - name: code\n        ¦gitRepo:\n          repository: https://example.com\n',
    }),
    expected: [{ rule: 'questionable', path: 'spec.template.spec.volumes[0].gitRepo', severity: 'warning', says: 'deprecated' }],
  },
  {
    title: 'an object twice in a file',
    text: `${configMap('data: {}\n')}---\n${configMap('data: {}\n').replace('  name: NAME', '  name: ¦NAME')}`,
    expected: one('duplicate-object', 'metadata.name', 'already defined at line 4'),
  },
  {
    title: 'a mistake in the second document',
    text: `# first\n${configMap('data: {}\n')}---\n# second\n${deployment({ spec: '  replicas: ¦-3\n' })}`,
    expected: one('invalid', 'spec.replicas'),
  },
  {
    title: 'a mistake in an item of a list',
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
    title: 'an item of a typed list',
    text: 'apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata:\n    name: NAME\n  ¦date: {}\n',
    expected: one('unknown-field', 'date'),
  },
  {
    title: 'a custom resource that breaks its schema',
    text: widget('  size: ¦0\n  color: ¦blue\n'),
    expected: [
      { rule: 'invalid', path: 'spec.size', says: 'greater than or equal to 1' },
      { rule: 'not-supported', path: 'spec.color' },
    ],
  },
  {
    title: 'a custom resource of a wrong type',
    text: widget('  size: ¦"3"\n'),
    expected: one('type', 'spec.size', 'must be of type integer'),
  },
  {
    title: 'a custom resource without what it must have',
    text: widget('  color: red\n').replace('spec:\n', '¦spec:\n'),
    expected: one('required', 'spec.size'),
  },
  {
    title: 'a custom resource that breaks an expression of its schema',
    text: widget('  size: 101\n').replace('spec:\n', '¦spec:\n'),
    expected: one('invalid', 'spec', 'must not be above one hundred'),
  },
  {
    title: 'an expression that cannot be compiled',
    text: widgetDefinition
      .replaceAll('shop.example.com', 'expressions-NAME.example.com')
      .replace('rule: self.size <= 100', 'rule: ¦self.size <='),
    expected: one('invalid', 'spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule'),
  },
  {
    title: 'an unknown field of a custom resource',
    text: widget('  size: 1\n  ¦weight: 2\n'),
    expected: one('unknown-field', 'spec.weight'),
  },
  {
    title: 'a set with the same item twice',
    text: widget('  size: 1\n  tags: [a, b, ¦a]\n'),
    expected: one('duplicate', 'spec.tags[2]'),
  },
  {
    title: 'a deprecated version of a custom resource',
    text: widget('  size: 1\n', '¦shop.example.com/v1alpha1'),
    expected: [{ rule: 'deprecated-version', path: 'apiVersion', severity: 'warning', says: 'use shop.example.com/v1 Widget' }],
  },
  {
    title: 'a version of a custom resource that is not served',
    text: widget('  size: 1\n', 'shop.example.com/v0').replace('kind: Widget', 'kind: ¦Widget'),
    expected: one('unknown-kind', 'kind', 'does not serve version v0; served: v1, v1alpha1'),
  },
  {
    title: 'a custom resource that nothing defines',
    text: 'apiVersion: other.example.com/v1\nkind: ¦Gadget\nmetadata:\n  name: NAME\n',
    expected: one('missing-definition', 'kind', 'no file defines other.example.com/v1 Gadget'),
  },
  {
    title: 'a definition whose name is not that of its group',
    text: widgetDefinition
      .replaceAll('shop.example.com', 'NAME.example.com')
      .replace('name: widgets.NAME.example.com', 'name: ¦widgets-NAME.example.com'),
    expected: one('invalid', 'metadata.name', 'must be spec.names.plural+"."+spec.group'),
  },
  {
    title: 'a mistake behind Windows line ends',
    text: deployment({ spec: '  replicas: ¦-1\n' }).replaceAll('\n', '\r\n'),
    expected: one('invalid', 'spec.replicas'),
  },
]
