import type { SampleServer } from './sample-server.ts'

/** Requests for objects in any version. */

/** `apps/v1` and `deployments` give `/apis/apps/v1/deployments`. */
export function pathOf(apiVersion: string, resource = '', namespace = ''): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return `${root}${namespace === '' ? '' : `/namespaces/${namespace}`}${resource === '' ? '' : `/${resource}`}`
}

/** Creates an object. Fails with the body of any other response. */
export async function created(
  server: SampleServer,
  apiVersion: string,
  resource: string,
  body: object,
  namespace = '',
): Promise<void> {
  const { status, text } = await server.ask(pathOf(apiVersion, resource, namespace), { method: 'POST', body })
  if (status !== 201) throw new Error(`${apiVersion} ${resource}: ${status} ${text}`)
}

/** Reads an object in a version. */
export async function readAs(server: SampleServer, apiVersion: string, resource: string, name: string, namespace = '') {
  const { status, text, json } = await server.ask(`${pathOf(apiVersion, resource, namespace)}/${name}`)
  if (status !== 200) throw new Error(`${apiVersion} ${resource}: ${status} ${text}`)
  return json
}
