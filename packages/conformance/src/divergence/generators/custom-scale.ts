import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Step } from '../scenario.ts'

/** Collection of the objects that `defineCustom` makes available. */
export const customPath = '/apis/example.com/v1/namespaces/{ns}/s{id}s'

/** Creates the definition of a custom resource with a scale. */
export function defineCustom(random: RandomChoices): Step[] {
  const scale = {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.ready',
    ...(random.chance(60) ? { labelSelectorPath: '.status.selector' } : {}),
  }
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const spec = { type: 'object', properties: { replicas: { type: 'integer', ...(random.chance(50) ? { minimum: 1 } : {}) } } }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 's{id}s.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 's{id}s', singular: 's{id}', kind: 'S{id}', listKind: 'S{id}List' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: free } } },
          subresources: { scale },
        },
      ],
    },
  }
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  // kube-apiserver establishes definitions in the background.
  const until = { step: { method: 'GET', path: '/apis/example.com/v1' }, shows: '"name":"s{id}s"' }
  return [{ id: 'define', method: 'POST', path, query: [['fieldManager', 'm']], body: { json: definition }, until }]
}
