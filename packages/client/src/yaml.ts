import { ClientError } from './client-error.ts'

/** Parses a kubeconfig, which is YAML or JSON. The YAML reader is loaded when it is needed. */
export async function parseYamlText(text: string, path: string): Promise<unknown> {
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text)
    } catch {
      // YAML's flow style begins alike.
    }
  }
  const { parseYaml } = await import('@krmkit/schema')
  try {
    return parseYaml(Buffer.from(text)).value
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    throw new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: ${path} is not YAML${why}`, cause })
  }
}
