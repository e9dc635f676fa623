import { utf8Bytes } from '@krmkit/base/bytes'
import { ClientError } from './client-error.ts'

/** Parses a kubeconfig, which is YAML or JSON. The YAML parser is loaded on demand. */
export async function parseYamlText(text: string, path: string): Promise<unknown> {
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text)
    } catch {
      // YAML in flow style also starts with a brace.
    }
  }
  const { parseYaml } = await import('@krmkit/schema')
  try {
    return parseYaml(utf8Bytes(text)).value
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    throw new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: ${path} is not YAML${why}`, cause })
  }
}
