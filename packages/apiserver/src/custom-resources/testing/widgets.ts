import type { JsonObject } from '@krmkit/meta'

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** A namespaced definition of Widget in the group `g.example.com`. By default, the first version is the storage version. */
export function widgetDefinition(versions: readonly JsonObject[], spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.g.example.com' },
    spec: {
      group: 'g.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: versions.map((version, index) => ({ name: `v${index + 1}`, served: true, storage: index === 0, ...version })),
      ...spec,
    },
  }
}

/** A version of the definition. @param properties schemas of the members of `spec`; undefined: `spec` is an object without a schema */
export function widgetVersion(name: string, properties: JsonObject | undefined, storage: boolean): JsonObject {
  const spec = { type: 'object', ...(properties === undefined ? {} : { properties }) }
  return { name, served: true, storage, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }
}

/** An instance of the definition in tests of custom resources. */
export const widget = (name: string, rest: JsonObject = {}): JsonObject => ({
  apiVersion: 'g.example.com/v1',
  kind: 'Widget',
  metadata: { name },
  ...rest,
})

/** Polls until `holds` is true: background work of the server takes a few turns of the event loop. */
export async function eventually<T>(poll: () => Promise<T>, holds: (result: T) => boolean): Promise<T> {
  for (let turn = 0; turn < 500; turn++) {
    const result = await poll()
    if (holds(result)) return result
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error('the expected state was not reached')
}
