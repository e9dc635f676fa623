import { addAdmissionFlags } from './admission/flags.ts'
import { addAggregationFlags } from './aggregation/flags.ts'
import { addAuditFlags } from './audit/flags.ts'
import { addAuthenticationFlags } from './authentication/flags.ts'
import { addAuthorizationFlags } from './authorization/flags.ts'
import { addSigningFlags } from './certificate/serve-flags.ts'
import { Command, Option } from './commander.ts'
import {
  address,
  addressRange,
  duration,
  flag,
  fraction,
  gates,
  integer,
  list,
  origins,
  portRange,
  transportDirectives,
  verbosity,
} from './flag-values.ts'
import type { ServeOptions } from './serve-options.ts'
import { addJoinFlags } from './token/serve-flags.ts'

const port = integer({ min: 0, max: 65_535 })
const count = integer({ min: 0, max: 1_000_000 })

/** Flags of the stock server that people bring along, and that nothing here would honour. */
const notImplemented = new Set([
  'encryption-provider-config',
  'etcd-cafile',
  'etcd-certfile',
  'etcd-keyfile',
  'etcd-prefix',
  'etcd-servers',
  'kubelet-client-certificate',
  'kubelet-client-key',
  'tls-cipher-suites',
  'tls-min-version',
  'tls-sni-cert-key',
])

/** What to say to a flag that `serve` does not have. */
export function unknownFlagHint(name: string): string | undefined {
  return notImplemented.has(name)
    ? `kube-apiserver has the flag --${name}, but krmkit does not implement it yet; leave it out`
    : undefined
}

/** The sub-command `serve`: flags are named as those of kube-apiserver wherever they mean the same. */
export function serveCommand(run: (options: ServeOptions) => Promise<void>): Command {
  const command = new Command('serve')
    .description('Run an API server that kubectl and every other stock client can talk to.')
    .optionsGroup('Address:')
    .addOption(option('--secure-port <port>', 'port for HTTPS; 0 takes a free one').default(6443).argParser(port))
    .addOption(
      option('--bind-address <address>', 'address to listen on; 0.0.0.0 or :: for all').default('127.0.0.1').argParser(address),
    )
    .addOption(
      option('--advertise-address <address>', 'address that clients are told; default: the one bound to').argParser(address),
    )
    .addOption(option('--external-hostname <name>', 'host name that clients are told, and that the certificate names'))
    .optionsGroup('Storage:')
    .addOption(
      option('--storage <kind>', 'memory: gone at exit; durable: a write is answered once it is on disk')
        .choices(['memory', 'durable'])
        .default('memory'),
    )
    .addOption(option('--data-dir <folder>', 'where data, certificates and the admin token are kept').default('.krmkit'))
    .addOption(
      option('--etcd-compaction-interval <duration>', 'how long past versions can be read and watched from')
        .default(300_000, '5m0s')
        .argParser(duration),
    )
    .optionsGroup('TLS:')
    .addOption(option('--cert-dir <folder>', 'where the self-made certificate is kept; default: pki in the data folder'))
    .addOption(option('--tls-cert-file <file>', 'PEM certificate to serve with, instead of a self-made one'))
    .addOption(option('--tls-private-key-file <file>', 'its PEM key'))
    .optionsGroup('Administrator:')
    .addOption(
      option(
        '--write-kubeconfig <file>',
        'kubeconfig of an administrator (mode 0600); default: admin.kubeconfig in the data folder',
      ),
    )
    .optionsGroup('Limits:')
    .addOption(
      option(
        '--max-requests-inflight <n>',
        'reading requests served at a time; seats that priority levels share, with those of writing',
      )
        .default(400)
        .argParser(count),
    )
    .addOption(
      option(
        '--max-mutating-requests-inflight <n>',
        'writing requests served at a time; seats that priority levels share, with those of reading',
      )
        .default(200)
        .argParser(count),
    )
    .addOption(
      option('--request-timeout <duration>', 'longest time for a request that is no watch')
        .default(60_000, '1m0s')
        .argParser(duration),
    )
    .addOption(
      option('--min-request-timeout <seconds>', 'shortest life of a watch that sets none').default(1800).argParser(count),
    )
    .addOption(
      option('--goaway-chance <fraction>', 'chance that an HTTP/2 connection is asked to reconnect, 0 to 0.02')
        .default(0)
        .argParser(fraction({ min: 0, max: 0.02 })),
    )
    .addOption(
      option('--shutdown-delay-duration <duration>', 'keep serving for so long after the signal to stop')
        .default(0, '0s')
        .argParser(duration),
    )
    .addOption(
      option(
        '--enable-priority-and-fairness [bool]',
        'serve requests by flow schemas and priority levels; otherwise by the two limits',
      )
        .default(true)
        .argParser(flag),
    )
    .optionsGroup('What is served:')
    .addOption(
      option('--runtime-config <pairs>', 'group versions to switch: api/all=true, apps/v1=false, ...')
        .default([])
        .argParser(list),
    )
    .addOption(option('--feature-gates <pairs>', 'Name=true,Other=false').default({}).argParser(gates))
    .addOption(
      option('--controllers <names>', 'controllers to run: * for all, -name for all but one, empty for none')
        .default(['*'])
        .argParser(controllers),
    )
    .addOption(
      option('--service-cluster-ip-range <range>', 'addresses of services; the first is named by the certificate')
        .default('10.0.0.0/24')
        .argParser(addressRange),
    )
    .addOption(
      option('--service-node-port-range <range>', 'ports that services may open on nodes: first-last, or first+count')
        .default({ from: 30_000, to: 32_767 }, '30000-32767')
        .argParser(portRange),
    )
    .addOption(option('--allow-privileged [bool]', 'let containers be privileged').default(false).argParser(flag))
    .addOption(
      option('--cors-allowed-origins <patterns>', 'regular expressions of origins whose browsers are answered')
        .default([])
        .argParser(origins),
    )
    .addOption(
      option(
        '--strict-transport-security-directives <directives>',
        'tells browsers to come over TLS alone: max-age=SECONDS, includeSubDomains, preload',
      )
        .default([])
        .argParser(transportDirectives),
    )
    .optionsGroup('Other:')
    .addOption(option('-v, --v <level>', 'log level, 0 to 10: 2 and above print every request').default(0).argParser(verbosity))
    .action((options: ServeOptions, self: Command) => run({ ...options, explicit: explicitIn(self) }))
  return addAggregationFlags(
    addAuditFlags(addAdmissionFlags(addSigningFlags(addJoinFlags(addAuthorizationFlags(addAuthenticationFlags(command)))))),
  )
}

/** What was said, as opposed to what goes without saying. */
function explicitIn(command: Command): readonly string[] {
  return Object.keys(command.opts()).filter((name) => command.getOptionValueSource(name) === 'cli')
}

function controllers(text: string): readonly string[] {
  return list(text)
}

function option(flags: string, description: string): Option {
  return new Option(flags, description)
}
