import { type Features, field, Path } from '@krmkit/meta'
import { parseConfiguration } from '@krmkit/meta/configuration'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { formatFieldErrors } from '@krmkit/meta/validation'
import { CliError, messageOf } from '../cli-error.ts'
import { readText } from '../files.ts'
import { parseConfigurationText } from '../watched-configuration.ts'

/** The file of `--tracing-config-file`. */
export interface TracingConfiguration {
  /** Target of gRPC: `host:port`, `dns:host:port`, `unix:/path`. */
  readonly endpoint: string
  /** The part of the traces that is recorded where the client has not decided. */
  readonly samplingRatePerMillion: number
}

const flag = 'tracing-config-file'
const shape = { members: { endpoint: 'string', samplingRatePerMillion: 'integer' } } as const
const defaultEndpoint = 'localhost:4317'
const maxRate = 1_000_000

/** Reads and validates a TracingConfiguration. @throws CliError */
export async function readTracingConfiguration(
  path: string,
  { features, apiDomain }: { readonly features: Features; readonly apiDomain: string },
): Promise<TracingConfiguration> {
  if (!gateEnabled('APIServerTracing', features)) {
    throw invalid(path, 'APIServerTracing feature is not enabled, but tracing config file was provided')
  }
  const { value, repeated } = parsed(path, await readText(path, flag))
  const apiVersions = ['v1beta1', 'v1alpha1'].map((version) => `apiserver.config.${apiDomain}/${version}`)
  const read = parseConfiguration(value, { kind: 'TracingConfiguration', apiVersions, schema: shape }, repeated)
  if (!read.ok) throw invalid(path, `failed to read tracing config: ${read.message}`)
  const { endpoint = defaultEndpoint, samplingRatePerMillion = 0 } = read.value
  const problems = [...rateProblems(samplingRatePerMillion), ...endpointProblems(endpoint)]
  if (problems.length > 0) throw invalid(path, `failed to validate tracing configuration: ${formatFieldErrors(problems)}`)
  return { endpoint, samplingRatePerMillion }
}

function parsed(path: string, text: string): ReturnType<typeof parseConfigurationText> {
  try {
    return parseConfigurationText(text)
  } catch (cause) {
    throw invalid(path, messageOf(cause))
  }
}

function rateProblems(rate: number) {
  const at = Path.of('samplingRatePerMillion')
  if (rate < 0) return [field.invalid(at, rate, 'sampling rate must be positive')]
  return rate > maxRate ? [field.invalid(at, rate, 'sampling rate per million must be less than or equal to one million')] : []
}

function endpointProblems(endpoint: string) {
  const [, scheme = 'dns'] = /^([^/]*):\/\//.exec(endpoint) ?? []
  if (['dns', 'unix', 'unix-abstract'].includes(scheme)) return []
  const options = 'Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md'
  return [field.invalid(Path.of('endpoint'), endpoint, `unsupported scheme: ${scheme}.  ${options}`)]
}

function invalid(path: string, message: string): CliError {
  return new CliError({ code: 'InvalidFlag', message: `--${flag} ${path}: ${message}` })
}
