import { describe, expect, it } from 'vitest'
import { type ConvertManifestOptions, convertManifest } from './convert-manifest.ts'
import { findDeprecations } from './find-deprecations.ts'

const convert = (text: string, options: ConvertManifestOptions = {}) => {
  const { text: written, problems, converted } = convertManifest(text, options)
  return {
    text: written,
    converted: converted.length,
    problems: problems.map(({ range, path, message }) => `${range.line}:${range.column} ${path}: ${message}`),
  }
}

describe('convertManifest', () => {
  it('converts an Ingress and keeps its comments and style [P339]', () => {
    const text = `apiVersion: extensions/v1beta1 # since 2016
kind: Ingress
metadata:
  name: web
spec:
  # everything else
  backend: {serviceName: web, servicePort: 80}
  rules:
  - host: a.example.com
    http:
      paths:
      - path: /    # the root
        backend:
          serviceName: web # the name
          servicePort: http # the port
`
    expect(convert(text)).toEqual({
      text: `apiVersion: networking.k8s.io/v1 # since 2016
kind: Ingress
metadata:
  name: web
spec:
  # everything else
  defaultBackend: { service: { name: web, port: { number: 80 } } }
  rules:
  - host: a.example.com
    http:
      paths:
      - path: /    # the root
        backend:
          service:
            name: web # the name
            port:
              name: http # the port
        pathType: ImplementationSpecific
`,
      converted: 1,
      problems: [],
    })
  })

  it('moves the schema and columns of a definition into its version, with their comments [P337 P338]', () => {
    const text = `apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  version: v1 # the only one
  preserveUnknownFields: false
  names:
    kind: Widget
    plural: widgets
  # what a widget is
  validation:
    openAPIV3Schema:
      type: object
      properties:
        size: {type: integer} # in cm
  additionalPrinterColumns:
  - name: Size
    type: integer
    JSONPath: .size # the size
`
    expect(convert(text)).toEqual({
      text: `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  versions:
  - name: v1 # the only one
    served: true
    storage: true
    # what a widget is
    schema:
      openAPIV3Schema:
        type: object
        properties:
          size: {type: integer} # in cm
    additionalPrinterColumns:
    - name: Size
      type: integer
      jsonPath: .size # the size
  preserveUnknownFields: false
  names:
    kind: Widget
    plural: widgets
  scope: Namespaced
`,
      converted: 1,
      problems: [],
    })
  })

  it('keeps unknown fields of a definition that preserves them, and reports fields that its schema prunes [P337]', () => {
    const text = `apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
spec:
  version: v1
  validation:
    openAPIV3Schema: {properties: {}}
`
    const { text: written, problems } = convert(text)
    expect(written).toContain('x-kubernetes-preserve-unknown-fields')
    expect(written).not.toContain('preserveUnknownFields')
    expect(problems).toEqual([expect.stringContaining('v1 removes fields that the schema does not name')])
  })

  it('reports webhooks whose side effects v1 rejects [P336]', () => {
    const text = `apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingWebhookConfiguration
webhooks:
- name: a.example.com
- name: a.example.com
  sideEffects: None
`
    const { text: written, problems } = convert(text)
    expect(written).toContain('failurePolicy: Ignore')
    expect(problems).toEqual([
      '4:3 webhooks[0].sideEffects: v1 accepts None and NoneOnDryRun only, and the webhook has Unknown: state the side effects that it has',
      '5:9 webhooks[1].name: v1 requires names that are unique in the list',
    ])
  })

  it('reports the parts of a PodSecurityPolicy that Pod Security admission cannot express', () => {
    const text = `apiVersion: policy/v1beta1
kind: PodSecurityPolicy
metadata:
  name: strict
spec:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsUser: {rule: MustRunAsNonRoot}
  fsGroup: {rule: MustRunAs}
  volumes: [configMap]
`
    expect(convert(text)).toEqual({
      text,
      converted: 0,
      problems: [
        '1:13 apiVersion: policy/v1beta1 PodSecurityPolicy was removed in Kubernetes 1.25, and Kubernetes 1.33 has no version of it; label the namespaces whose pods use it with pod-security.kubernetes.io/enforce: baseline (because of requiredDropCapabilities, seccomp.security.alpha.kubernetes.io/allowedProfileNames), which cannot express readOnlyRootFilesystem, fsGroup; bindings to users have no equivalent',
      ],
    })
  })

  it('converts to an older release, and back to the same text', () => {
    const text = 'apiVersion: batch/v1 # jobs\nkind: CronJob\nspec: {schedule: "@daily"}\n'
    const older = convert(text, { release: '1.20' })
    expect(older).toMatchObject({ text: text.replace('v1', 'v1beta1'), problems: [] })
    expect(convert(older.text, { release: '1.25' }).text).toBe(text)
  })

  it('keeps and reports an object that the older version cannot express', () => {
    const text = `apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: 0
`
    expect(convert(text, { to: 'flowcontrol.apiserver.k8s.io/v1beta2' })).toEqual({
      text,
      converted: 0,
      problems: [
        '6:31 spec.limited.nominalConcurrencyShares: not converted, because flowcontrol.apiserver.k8s.io/v1beta2 cannot express it: zero means the default of 30 in this version',
      ],
    })
  })

  it('with `to` converts only objects whose kind has that version', () => {
    const text = 'apiVersion: batch/v1beta1\nkind: CronJob\n---\napiVersion: policy/v1beta1\nkind: PodDisruptionBudget\n'
    expect(convert(text, { to: 'policy/v1' })).toMatchObject({ text: text.replace('policy/v1beta1', 'policy/v1'), converted: 1 })
    expect(convert('apiVersion: v1\nkind: Event\nmessage: m\n', { to: 'events.k8s.io/v1' }).text).toContain('note: m')
    expect(
      convert('apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {}\nspec: {maxReplicas: 3}\n', {
        to: 'autoscaling/v2',
      }).converted,
    ).toBe(1)
  })

  it('converts items of lists, and the version of a typed list', () => {
    const list =
      'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n- apiVersion: batch/v1beta1 # b\n  kind: CronJob\n'
    expect(convert(list)).toMatchObject({ text: list.replace('batch/v1beta1', 'batch/v1'), converted: 1 })
    const typed =
      'apiVersion: policy/v1beta1\nkind: PodDisruptionBudgetList\nitems:\n- metadata: {name: a}\n  spec: {selector: {}}\n'
    expect(convert(typed).text).toBe(
      typed
        .replace('v1beta1', 'v1')
        .replace(
          '{selector: {}}',
          '{ selector: { matchExpressions: [{ key: pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match, operator: Exists }] } }',
        ),
    )
  })

  it('keeps a text that cannot be parsed, and reports the position', () => {
    const text = 'apiVersion: batch/v1beta1\nkind: CronJob\n---\n{{ if .Values.x }}\n'
    const { text: written, problems } = convert(text)
    expect(written).toBe(text)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^4:/)
  })

  it('does not change current and unknown objects', () => {
    const text = 'kind:   Pod\napiVersion:   v1\n---\napiVersion: example.com/v1beta1\nkind: Widget\n---\n- 1\n'
    expect(convert(text)).toEqual({ text, converted: 0, problems: [] })
  })

  it('converts everything that a release has removed, apart from reported objects', () => {
    const documents = [
      'batch/v1beta1 CronJob',
      'policy/v1beta1 PodDisruptionBudget',
      'node.k8s.io/v1beta1 RuntimeClass',
      'events.k8s.io/v1beta1 Event',
      'rbac.authorization.k8s.io/v1beta1 Role',
    ]
    for (const document of documents) {
      const [apiVersion, kind] = document.split(' ')
      const { text } = convert(`apiVersion: ${apiVersion}\nkind: ${kind}\n`)
      expect(findDeprecations([{ apiVersion: /^apiVersion: (.*)$/m.exec(text)?.[1], kind }])).toEqual([])
    }
  })
})
