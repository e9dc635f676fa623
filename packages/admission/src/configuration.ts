import { AdmissionError } from './admission-error.ts'
import { ConfigurationReader } from './configuration-reader.ts'

/** The configuration of each plugin in the file of `--admission-control-config-file`, by plugin name. */
export type AdmissionConfiguration = ReadonlyMap<string, unknown>

/** Parses YAML or JSON. */
export type Parse = (text: string) => unknown

/**
 * Reads an `AdmissionConfiguration` and the files that it references.
 *
 * @param options.parse parses YAML or JSON.
 * @param options.read reads a referenced file; paths are passed unchanged.
 * @throws AdmissionError `InvalidConfiguration`
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises'
 * import { parseAdmissionConfiguration } from '@krmkit/admission'
 *
 * const type = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration' }
 * const text = JSON.stringify({ ...type, plugins: [{ name: 'PodSecurity', configuration: {} }] })
 * const read = (path: string) => readFile(path, 'utf8')
 * const configuration = await parseAdmissionConfiguration(text, { parse: JSON.parse, read })
 * const names = [...configuration.keys()] // ['PodSecurity']
 * ```
 */
export async function parseAdmissionConfiguration(
  text: string,
  options: { readonly parse: Parse; readonly read: (path: string) => Promise<string>; readonly apiDomain?: string },
): Promise<AdmissionConfiguration> {
  const { parse, read, apiDomain = 'k8s.io' } = options
  const parsed = (what: string, source: string): unknown => {
    try {
      return parse(source)
    } catch (cause) {
      const message = `${what} does not parse: ${cause instanceof Error ? cause.message : String(cause)}`
      throw new AdmissionError({ code: 'InvalidConfiguration', message, cause })
    }
  }
  const reader = new ConfigurationReader('chain', parsed('the admission configuration', text))
  reader.expectKind([`apiserver.config.${apiDomain}/v1`, `apiserver.${apiDomain}/v1alpha1`], 'AdmissionConfiguration')
  const plugins = new Map<string, unknown>()
  for (const each of reader.objects('plugins')) {
    const name = each.text('name') ?? ''
    if (name === '') throw each.error('name', 'must be set')
    if (plugins.has(name)) throw each.error('name', `${JSON.stringify(name)} is a duplicate`)
    const path = each.text('path') ?? ''
    if (each.has('configuration')) plugins.set(name, each.value('configuration'))
    else if (path !== '') plugins.set(name, parsed(`the file ${path}`, await read(path)))
  }
  return plugins
}
