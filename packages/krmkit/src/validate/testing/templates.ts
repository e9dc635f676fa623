import type { ValidationRule } from '../findings.ts'
import type { ExpectedFinding } from './manifest-mistake.ts'

/** Templates of manifests, into which tests insert mistakes. `NAME` is replaced. */

export const deployment = (parts: { spec?: string; pod?: string; container?: string; labels?: string }) => `apiVersion: apps/v1
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

export const service = (spec: string) => `apiVersion: v1
kind: Service
metadata:
  name: NAME
spec:
  selector:
    app: NAME
${spec}`

export const configMap = (rest: string, metadata = '') => `apiVersion: v1
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
            x-kubernetes-validations:
            - rule: self.size <= 100
              message: must not be above one hundred
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

export const widget = (spec: string, apiVersion = 'shop.example.com/v1') => `apiVersion: ${apiVersion}
kind: Widget
metadata:
  name: NAME
spec:
${spec}`

export const one = (rule: ValidationRule, path: string, says?: string): readonly ExpectedFinding[] => [
  { rule, path, ...(says === undefined ? {} : { says }) },
]
