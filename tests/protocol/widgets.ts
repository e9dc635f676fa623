import { createCatalog } from '@krmkit/kinds'
import { customDefinitions } from '@krmkit/kinds/custom-resources'

/** A custom resource that is served from the start, without a definition object. */

/** Built-in kinds and their types, created once per test file. */
export const catalog = createCatalog()

export const widgets = '/apis/example.com/v1/namespaces/default/widgets'

export function widget(name: string, spec: object = {}): object {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec }
}

/** Definitions of widgets whose objects follow the schema. */
export function widgetKinds(openAPIV3Schema: object): ReturnType<typeof customDefinitions> {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  } as unknown as Parameters<typeof customDefinitions>[0]
  return customDefinitions(definition, { objectMeta: catalog.types.struct('meta/v1.ObjectMeta') })
}
