import { addOptionGroup, type Command, option } from '../commander.ts'

/** Adds the flag of traces, named as that of kube-apiserver. */
export function addTracingFlags(command: Command): Command {
  return addOptionGroup(command, 'Traces', [
    option(
      '--tracing-config-file <file>',
      'TracingConfiguration: the OTLP endpoint that receives spans of requests, and the rate of sampling',
    ),
  ])
}

export interface TracingOptions {
  /** Path of a TracingConfiguration. Absent: requests are not traced. */
  readonly tracingConfigFile?: string
}
