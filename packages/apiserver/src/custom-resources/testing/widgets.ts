import type { JsonObject } from '@krmkit/meta'

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
