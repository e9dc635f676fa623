import type { JsonObject } from '@krmkit/meta'

/** An instance of the definition that tests of custom resources make. */
export const widget = (name: string, rest: JsonObject = {}): JsonObject => ({
  apiVersion: 'g.example.com/v1',
  kind: 'Widget',
  metadata: { name },
  ...rest,
})

/** Asks until the answer is as wanted: what the server does by itself takes a few turns of the event loop. */
export async function eventually<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  for (let turn = 0; turn < 500; turn++) {
    const answer = await ask()
    if (holds(answer)) return answer
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error('the server did not get there')
}
