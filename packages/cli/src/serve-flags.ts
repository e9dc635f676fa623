import { addOptionGroup, type Command, option } from './commander.ts'
import { featureGateHelp } from './feature-gates.ts'
import {
  address,
  addressRange,
  booleanOption,
  durationOption,
  emulatedVersion,
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
import { logFormats } from './log.ts'

/** Flags of `serve` that belong to no other folder. Each function adds the flags of one or two groups to the command. */

const port = integer({ min: 0, max: 65_535 })
const count = integer({ min: 0, max: 1_000_000 })

export function addGenericFlags(command: Command): Command {
  return addOptionGroup(command, 'Generic', [
    option('--config <file>', 'YAML file of flags, such as secure-port: 6443; the command line overrides it'),
    option('--advertise-address <address>', 'address advertised to clients; default: the bind address').argParser(address),
    option('--external-hostname <name>', 'host name advertised to clients and included in the serving certificate'),
    option(
      '--write-kubeconfig <file>',
      'write the administrator kubeconfig to this file (mode 0600); default: admin.kubeconfig in the data folder',
    ),
    option(
      '--emulated-version <version>',
      'release to behave like, 1.21 to 1.37: APIs, fields, defaults, warnings; 1.24 or kube=1.24; default: 1.33',
    ).argParser(emulatedVersion),
    booleanOption(
      '--emulation-forward-compatible',
      'with an emulated version: also serve younger versions of the resources that are served as beta or stable',
      false,
    ),
    booleanOption(
      '--runtime-config-emulation-forward-compatible',
      'with an emulated version: also serve younger versions and resources that --runtime-config names',
      false,
    ),
    option('--threads <n>', 'worker processes that serve connections, beside this one, which writes; 0: a single process')
      .default(0)
      .argParser(integer({ min: 0, max: 256 })),
    option('--max-requests-inflight <n>', 'maximum non-mutating requests in flight; with fairness, part of the shared seats')
      .default(400)
      .argParser(count),
    option('--max-mutating-requests-inflight <n>', 'maximum mutating requests in flight; with fairness, part of the shared seats')
      .default(200)
      .argParser(count),
    durationOption('--request-timeout', 'timeout for non-watch requests', 60_000, '1m0s'),
    option('--min-request-timeout <seconds>', 'minimum duration of a watch without timeoutSeconds')
      .default(1800)
      .argParser(count),
    option('--goaway-chance <fraction>', 'probability that an HTTP/2 connection is asked to reconnect, 0 to 0.02')
      .default(0)
      .argParser(fraction({ min: 0, max: 0.02 })),
    option(
      '--endpoint-reconciler-type <type>',
      'endpoints of the API service: lease: the servers that renew their announcement; none: not maintained',
    )
      .choices(['lease', 'none'])
      .default('lease'),
    durationOption('--shutdown-delay-duration', 'time to keep serving after a termination signal', 0, '0s'),
    booleanOption(
      '--enable-priority-and-fairness',
      'queue requests by flow schemas and priority levels; false: apply the two in-flight limits',
      true,
    ),
    option('--cors-allowed-origins <patterns>', 'regular expressions of allowed CORS origins').default([]).argParser(origins),
    option('--strict-transport-security-directives <directives>', 'HSTS directives: max-age=SECONDS, includeSubDomains, preload')
      .default([])
      .argParser(transportDirectives),
  ])
}

export function addSecureServingFlags(command: Command): Command {
  return addOptionGroup(command, 'Secure serving', [
    option('--secure-port <port>', 'HTTPS port; 0: a free port').default(6443).argParser(port),
    option('--bind-address <address>', 'listen address; 0.0.0.0 or :: for all interfaces')
      .default('127.0.0.1')
      .argParser(address),
    option('--cert-dir <folder>', 'folder of the self-signed certificate; default: pki in the data folder'),
    option('--tls-cert-file <file>', 'PEM serving certificate; default: self-signed'),
    option('--tls-private-key-file <file>', 'PEM private key of --tls-cert-file'),
  ])
}

/** The flags that name an etcd. */
export function etcdOptions() {
  return [
    option('--etcd-servers <urls>', 'members of the etcd cluster, comma separated: https://host:2379')
      .default([])
      .argParser(list),
    option('--etcd-cafile <file>', 'PEM authorities that certify the members of etcd; default: those of the system'),
    option('--etcd-certfile <file>', 'PEM certificate that authenticates this server to etcd'),
    option('--etcd-keyfile <file>', 'PEM private key of --etcd-certfile'),
    option('--etcd-prefix <path>', 'root of all keys in etcd').default('/registry'),
  ]
}

export function addStorageFlags(command: Command): Command {
  return addOptionGroup(command, 'Storage', [
    option(
      '--storage <kind>',
      'memory: lost at exit; durable: writes are acknowledged once they are on disk; etcd: shared by several servers',
    )
      .choices(['memory', 'durable', 'etcd'])
      .default('memory'),
    option('--data-dir <folder>', 'folder of the data, certificates and administrator token').default('.krmkit'),
    ...etcdOptions(),
    durationOption('--etcd-compaction-interval', 'retention of past revisions for reads and watches', 300_000, '5m0s'),
    durationOption(
      '--etcd-db-metric-poll-interval',
      'interval at which etcd is asked for its sizes and alarms; 0: never',
      30_000,
      '30s',
    ),
    durationOption('--event-ttl', 'lifetime of events after their last write', 3_600_000, '1h0m0s'),
    option(
      '--encryption-provider-config <file>',
      'EncryptionConfiguration: resources to encrypt in durable storage or etcd, and keys',
    ),
    booleanOption(
      '--encryption-provider-config-automatic-reload',
      'apply changes of the file of --encryption-provider-config',
      false,
    ),
  ])
}

/** Feature gates, group versions and controllers. */
export function addEnablementFlags(command: Command): Command {
  addOptionGroup(command, 'Features', [
    option('--feature-gates <pairs>', `features to enable or disable: Name=true,Other=false\n${featureGateHelp()}`)
      .default({}, 'none')
      .argParser(gates),
  ])
  addOptionGroup(command, 'API enablement', [
    option('--runtime-config <pairs>', 'group versions to enable or disable: api/all=true, apps/v1=false, ...')
      .default([])
      .argParser(list),
  ])
  return addOptionGroup(command, 'Controllers', [
    option('--controllers <names>', 'controllers to run: * for all, -name to exclude one, empty for none')
      .default(['*'])
      .argParser((text) => list(text)),
    option(
      '--simulate-nodes <n>',
      'number of simulated nodes; with them the scheduler and all workload controllers run, unless --controllers excludes them',
    )
      .default(0)
      .argParser(integer({ min: 0, max: 5000 })),
    option('--simulation-file <file>', 'YAML or JSON file with the behaviors of pods on simulated nodes'),
    booleanOption('--inspector', 'record the requests with the decisions about them, and show them at /debug/inspector', false),
  ])
}

export function addLeaderElectionFlags(command: Command): Command {
  return addOptionGroup(command, 'Controllers', [
    option(
      '--leader-elect [bool]',
      'run the controllers in one of the servers on one store: the one that holds a Lease; default: true with --storage=etcd',
    ).argParser(flag),
    durationOption(
      '--leader-elect-lease-duration',
      'time without a renewal after which another server takes the Lease',
      15_000,
      '15s',
    ),
    durationOption(
      '--leader-elect-renew-deadline',
      'time without a renewal after which the leader stops its controllers',
      10_000,
      '10s',
    ),
    durationOption('--leader-elect-retry-period', 'time between attempts to take or renew the Lease', 2000, '2s'),
    option('--leader-elect-resource-lock <kind>', 'kind of the lock').choices(['leases']).default('leases'),
    option('--leader-elect-resource-name <name>', 'name of the Lease').default('kube-controller-manager'),
    option('--leader-elect-resource-namespace <name>', 'namespace of the Lease').default('kube-system'),
  ])
}

export function addNetworkFlags(command: Command): Command {
  return addOptionGroup(command, 'Misc', [
    option('--service-cluster-ip-range <range>', 'address range of services; its first address is in the serving certificate')
      .default('10.0.0.0/24')
      .argParser(addressRange),
    option('--service-node-port-range <range>', 'range of node ports: first-last, or first+count')
      .default({ from: 30_000, to: 32_767 }, '30000-32767')
      .argParser(portRange),
    booleanOption('--allow-privileged', 'allow privileged containers', false),
  ])
}

export function addLogFlags(command: Command): Command {
  return addOptionGroup(command, 'Logs', [
    option('--logging-format <format>', 'text: lines for people; json: one object per line').choices(logFormats).default('text'),
    option('-v, --v <level>', 'log verbosity, 0 to 10; 2: requests of clients; 4: also those of the server and its controllers')
      .default(0)
      .argParser(verbosity),
  ])
}
