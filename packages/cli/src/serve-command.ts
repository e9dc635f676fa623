import { addAdmissionFlags } from './admission/flags.ts'
import { addAggregationFlags } from './aggregation/flags.ts'
import { addAuditFlags } from './audit/flags.ts'
import { addAuthenticationFlags } from './authentication/flags.ts'
import { addAuthorizationFlags } from './authorization/flags.ts'
import { addSigningFlags } from './certificate/serve-flags.ts'
import { Command } from './commander.ts'
import { addKubeletFlags } from './kubelet/flags.ts'
import { addMetricsFlags } from './metrics/flags.ts'
import {
  addEnablementFlags,
  addGenericFlags,
  addLeaderElectionFlags,
  addLogFlags,
  addNetworkFlags,
  addSecureServingFlags,
  addStorageFlags,
} from './serve-flags.ts'
import type { ServeOptions } from './serve-options.ts'
import { addJoinFlags } from './token/serve-flags.ts'
import { addTracingFlags } from './tracing/flags.ts'

/** Flags of kube-apiserver that are often copied into a command line and that krmkit does not implement. */
const notImplemented = new Set(['kubelet-read-only-port', 'tls-cipher-suites', 'tls-min-version', 'tls-sni-cert-key'])

/** An explanation for a known flag of kube-apiserver that `serve` does not have; undefined for any other name. */
export function unknownFlagHint(name: string): string | undefined {
  return notImplemented.has(name)
    ? `kube-apiserver has the flag --${name}, but krmkit does not implement it yet; leave it out`
    : undefined
}

/** Adders of flag groups, in the order of the help. */
const flagGroups = [
  addGenericFlags,
  addSecureServingFlags,
  addStorageFlags,
  addAuthenticationFlags,
  addAuthorizationFlags,
  addAdmissionFlags,
  addAuditFlags,
  addEnablementFlags,
  addLeaderElectionFlags,
  addSigningFlags,
  addJoinFlags,
  addNetworkFlags,
  addAggregationFlags,
  addKubeletFlags,
  addMetricsFlags,
  addTracingFlags,
  addLogFlags,
]

/** The sub-command `serve`. A flag that means the same as one of kube-apiserver has the same name and stands in the same group. */
export function serveCommand(run: (options: ServeOptions) => Promise<void>): Command {
  const command = new Command('serve').description('Run an API server that kubectl and every other stock client can use.')
  for (const addFlags of flagGroups) addFlags(command)
  return command.action(async (_options: ServeOptions, self: Command) => {
    const { config } = self.opts<{ readonly config?: string }>()
    if (config !== undefined) await (await import('./flags-file.ts')).applyFlagsFile(self, config)
    const { config: _, ...options } = self.opts<ServeOptions & { readonly config?: string }>()
    await run({ ...options, explicit: explicitFlags(self), flagValues: flagValues(self) })
  })
}

/** Names and values of all flags that have one. */
function flagValues(command: Command): Readonly<Record<string, string>> {
  const values = command.opts() as Readonly<Record<string, unknown>>
  const rows = command.options.flatMap((flag) => {
    const value = values[flag.attributeName()]
    return flag.long && value !== undefined ? [[flag.long.replace(/^--/, ''), flagText(value)] as const] : []
  })
  return Object.fromEntries(rows)
}

function flagText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flagText).join(',')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([key, each]) => `${key}=${flagText(each)}`)
    .join(',')
}

/** Names of the options that the command line or a file of flags sets, without those that keep their default. */
function explicitFlags(command: Command): readonly string[] {
  const isSet = (name: string) => ['cli', 'config'].includes(command.getOptionValueSource(name) ?? '')
  return Object.keys(command.opts()).filter(isSet)
}
