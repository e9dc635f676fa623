import type { ManifestMistake } from './manifest-mistake.ts'
import { configMap, deployment, one, service } from './templates.ts'

const app = 'spec.template.spec.containers[0]'

/** Wrong types, unknown names, duplicate and missing fields. */
export const fieldMistakes: readonly ManifestMistake[] = [
  {
    title: 'text where a number belongs',
    text: deployment({ spec: '  replicas: ¦"2"\n' }),
    expected: one('type', 'spec.replicas', 'expected an integer of 32 bits, found string'),
  },
  {
    title: 'a number where text belongs',
    text: configMap('data:\n  port: ¦8080\n'),
    expected: one('type', 'data.port', 'expected a string, found number'),
  },
  {
    title: 'a boolean where text belongs',
    text: configMap('data:\n  debug: ¦yes\n'),
    expected: one('type', 'data.debug', 'found boolean'),
  },
  {
    title: 'an object where a list belongs',
    text: deployment({ container: '        ¦ports:\n          containerPort: 80\n' }),
    expected: one('type', `${app}.ports`, 'expected a list, found object'),
  },
  {
    title: 'a fraction where a whole number belongs',
    text: deployment({ spec: '  replicas: ¦1.5\n' }),
    expected: one('type', 'spec.replicas', 'found number 1.5'),
  },
  {
    title: 'several wrong types at once',
    text: deployment({ spec: '  replicas: ¦two\n  paused: ¦"no"\n', container: '        tty: ¦1\n' }),
    expected: [
      { rule: 'type', path: 'spec.replicas' },
      { rule: 'type', path: 'spec.paused' },
      { rule: 'type', path: `${app}.tty` },
    ],
  },
  {
    title: 'an unknown field',
    text: deployment({ container: '        ¦imagePullPolice: Always\n' }),
    expected: one('unknown-field', `${app}.imagePullPolice`),
  },
  {
    title: 'a field of the wrong case',
    text: deployment({ spec: '  ¦Replicas: 2\n' }),
    expected: one('unknown-field', 'spec.Replicas'),
  },
  {
    title: 'a field at the wrong level',
    text: service('  ports:\n  - port: 80\n¦type: NodePort\n'),
    expected: one('unknown-field', 'type'),
  },
  {
    title: 'a repeated key',
    text: deployment({ spec: '  replicas: 2\n  ¦replicas: 3\n' }),
    expected: one('duplicate-field', 'spec.replicas'),
  },
  {
    title: 'a repeated key in JSON',
    extension: '.json',
    text: '{\n  "apiVersion": "v1",\n  "kind": "ConfigMap",\n  "metadata": {"name": "NAME"},\n  "data": {"a": "1", ¦"a": "2"}\n}\n',
    expected: one('duplicate-field', 'data.a'),
  },
  {
    title: 'a missing required field',
    text: deployment({}).replace('      - name: app\n        image: nginx:1\n', '      - ¦name: app\n'),
    expected: one('required', `${app}.image`),
  },
  {
    title: 'no containers',
    text: deployment({}).replace('      containers:\n      - name: app\n        image: nginx:1\n', '      ¦containers: []\n'),
    expected: one('required', 'spec.template.spec.containers'),
  },
  {
    title: 'no name',
    text: configMap('data: {}\n').replace('metadata:\n  name: NAME\n', '¦metadata:\n  labels: {}\n'),
    expected: one('required', 'metadata.name', 'name or generateName is required'),
  },
  {
    title: 'a value that is none of the allowed ones',
    text: deployment({ container: '        imagePullPolicy: ¦Sometimes\n' }),
    expected: one('not-supported', `${app}.imagePullPolicy`, '"Always", "IfNotPresent", "Never"'),
  },
  {
    title: 'a restart policy that a deployment cannot have',
    text: deployment({ pod: '      restartPolicy: ¦Never\n' }),
    expected: one('not-supported', 'spec.template.spec.restartPolicy'),
  },
  {
    title: 'a name with capitals',
    text: configMap('data: {}\n').replace('  name: NAME', '  name: ¦My_NAME'),
    expected: one('invalid', 'metadata.name', 'lowercase RFC 1123 subdomain'),
  },
  {
    title: 'a namespace that is no label',
    text: configMap('data: {}\n', '  namespace: ¦a.b\n'),
    expected: one('invalid', 'metadata.namespace'),
  },
  {
    title: 'a label value with a space',
    text: configMap('data: {}\n', '  ¦labels:\n    app: my app\n'),
    expected: one('invalid', 'metadata.labels', 'a valid label must be'),
  },
  {
    title: 'a label key with two slashes',
    text: configMap('data: {}\n', '  ¦labels:\n    a/b/c: d\n'),
    expected: one('invalid', 'metadata.labels', 'a/b/c'),
  },
  {
    title: 'a quantity that is none',
    text: deployment({ container: '        resources:\n          limits:\n            memory: ¦1Gig\n' }),
    expected: one('value', `${app}.resources.limits.memory`),
  },
  {
    title: 'a request above its limit',
    text: deployment({
      container: '        resources:\n          limits:\n            cpu: 100m\n          ¦requests:\n            cpu: 200m\n',
    }),
    expected: one('invalid', `${app}.resources.requests`, 'must be less than or equal to cpu limit'),
  },
  {
    title: 'a port out of range',
    text: service('  ports:\n  - ¦port: ¦70000\n'),
    expected: [
      { rule: 'invalid', path: 'spec.ports[0].targetPort' },
      { rule: 'invalid', path: 'spec.ports[0].port', says: 'between 1 and 65535' },
    ],
  },
  {
    title: 'a container port out of range',
    text: deployment({ container: '        ports:\n        - containerPort: ¦0\n' }),
    expected: one('required', `${app}.ports[0].containerPort`),
  },
  {
    title: 'a port name that is too long',
    text: deployment({ container: '        ports:\n        - containerPort: 80\n          name: ¦a-name-beyond-fifteen\n' }),
    expected: one('invalid', `${app}.ports[0].name`, 'must be no more than 15 characters'),
  },
  {
    title: 'several ports without names',
    text: service('  ports:\n  - ¦port: 80\n  - ¦port: 81\n'),
    expected: [
      { rule: 'required', path: 'spec.ports[0].name' },
      { rule: 'required', path: 'spec.ports[1].name' },
    ],
  },
  {
    title: 'the same port twice',
    text: service('  ports:\n  - port: 80\n    name: a\n  - ¦port: 80\n    name: b\n'),
    expected: one('duplicate', 'spec.ports[1]'),
  },
  {
    title: 'a selector that does not match',
    text: deployment({ labels: '        app: other\n' }).replace('    metadata:\n      labels', '    metadata:\n      ¦labels'),
    expected: one('invalid', 'spec.template.metadata.labels', '`selector` does not match template `labels`'),
  },
  {
    title: 'containers of one name',
    text: deployment({ container: '      - name: ¦app\n        image: busybox\n' }),
    expected: one('duplicate', 'spec.template.spec.containers[1].name'),
  },
  {
    title: 'a mount without its volume',
    text: deployment({ container: '        volumeMounts:\n        - name: ¦data\n          mountPath: /data\n' }),
    expected: one('not-found', `${app}.volumeMounts[0].name`),
  },
  {
    title: 'two mounts at one path',
    text: deployment({
      pod: '      volumes:\n      - name: data\n        emptyDir: {}\n',
      container:
        '        volumeMounts:\n        - name: data\n          mountPath: /data\n        - name: data\n          mountPath: ¦/data\n',
    }),
    expected: one('invalid', `${app}.volumeMounts[1].mountPath`, 'must be unique'),
  },
  {
    title: 'a volume of two sources',
    text: deployment({
      pod: '      volumes:\n      - name: data\n        emptyDir: {}\n        ¦configMap:\n          name: a\n',
    }),
    expected: one('forbidden', 'spec.template.spec.volumes[0].configMap', 'may not specify more than 1 volume type'),
  },
  {
    title: 'a volume without a name',
    text: deployment({ pod: '      volumes:\n      - ¦emptyDir: {}\n' }),
    expected: one('required', 'spec.template.spec.volumes[0].name'),
  },
  {
    title: 'value and valueFrom',
    text: deployment({
      container:
        '        env:\n        - name: A\n          value: b\n          ¦valueFrom:\n            fieldRef:\n              fieldPath: metadata.name\n',
    }),
    expected: one('invalid', `${app}.env[0].valueFrom`, 'may not be specified when `value` is not empty'),
  },
  {
    title: 'a probe of two handlers',
    text: deployment({
      container:
        '        livenessProbe:\n          httpGet:\n            port: 80\n          ¦tcpSocket:\n            port: 80\n',
    }),
    expected: one('forbidden', `${app}.livenessProbe.tcpSocket`, 'may not specify more than 1 handler type'),
  },
]
