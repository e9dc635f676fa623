import type { ApiServerOptions, EmbeddedServer } from '@krmkit/apiserver'
import type { SignerRules } from '@krmkit/certificates'
import type { Client } from '@krmkit/client'
import type {
  CertificateSigning,
  Controller,
  LegacyTokenIssuer,
  MetricsProvider,
  NodeSimulationOptions,
  RunningControllers,
} from '@krmkit/controllers'
import type { ApiObject, Clock, UserInfo } from '@krmkit/meta'
import type { Handler } from '@krmkit/protocol'
import type { Explanation } from './explanation.ts'
import type { Faults } from './faults.ts'
import type { ObjectReference } from './field-history.ts'
import type { HeldEvents } from './held-events.ts'
import type { InspectOptions } from './inspector/inspect.ts'
import type { KubeconfigFile, KubeconfigFileOptions } from './kubeconfig.ts'
import type { Ledger } from './ledger.ts'
import type { RandomFaultOptions } from './random-faults.ts'
import type { Match } from './request-match.ts'
import type { TestClock } from './test-clock.ts'

/** A real API server for a test: in-process, in memory, with its own clock. */
export interface TestServer extends AsyncDisposable {
  /** A client with administrator rights. */
  readonly client: Client
  /** The handler of the server, for clients and adapters. */
  readonly handle: Handler
  readonly clock: TestClock
  readonly ledger: Ledger
  readonly faults: Faults
  /** Creates a client of a user. @throws TestingError `UnknownUser` for a name that is not in `users` */
  as(user: string | UserInfo): Client
  /** Returns a bearer token of a user, for clients on a port. @throws TestingError `UnknownUser` */
  tokenOf(user: string | UserInfo): string
  /**
   * Expires the tokens of a user: requests with them get 401. `tokenOf` then returns a new one.
   *
   * @returns the number of expired tokens
   * @throws TestingError `UnknownUser`
   */
  expireTokens(user: string | UserInfo): number
  /** Creates an independent server with the current objects. Takes constant time, because unchanged data is shared. */
  fork(): TestServer
  /** Restores the state after the seed: objects, time, ledger and faults. Ends watches. */
  reset(): Promise<void>
  /**
   * Resolves when the server is idle until the next write or timer: no requests in flight, all watch events delivered, controllers
   * done.
   */
  settle(): Promise<void>
  /**
   * Runs controllers of the test until the server closes. `settle` waits for them; ledger and faults treat them as a user.
   *
   * @example
   * import { ConfigMap } from '@krmkit/kinds/core/v1'
   * import { createTestServer, reconciler } from '@krmkit/testing'
   * const cluster = await createTestServer()
   * const reconcile = async () => undefined
   * cluster.run(reconciler({ name: 'colors', resource: ConfigMap, reconcile }), { user: 'colors-operator' })
   */
  run(controllers: Controller | readonly Controller[], options?: RunOptions): RunningControllers
  /**
   * Holds the events of matching watches, including open ones, until they are released one by one, so that the test controls
   * what a client knows at which time. `settle` does not wait for held events. Watches of controllers are held only if
   * `user` names them, in a fork before its first write.
   *
   * @throws TestingError `InvalidFault`, `InvalidOption`
   * @example
   * import { createInformer } from '@krmkit/client'
   * import { ConfigMap } from '@krmkit/kinds/core/v1'
   * import { createTestServer } from '@krmkit/testing'
   * await using cluster = await createTestServer()
   * const copy = createInformer(cluster.as('operator'), ConfigMap, { namespace: 'default', clock: cluster.clock })
   * await cluster.settle()
   * const held = cluster.holdWatches({ user: 'operator' })
   * await cluster.client.create(ConfigMap, { metadata: { name: 'web', namespace: 'default' } })
   * await cluster.settle()
   * copy.list().length // 0
   * await held.step('web') // 'ADDED ConfigMap web to watch 1 of configmaps by operator'
   * copy.list().length // 1
   * await copy.stop()
   */
  holdWatches(match?: Match): HeldEvents
  /** Makes `settle` wait for code of the test, too. @returns a function that undoes this */
  settleWith(settled: () => Promise<void>): () => void
  /**
   * Returns the PEM of the authority of the built-in signers. Clients on a port are authenticated by their certificates when the
   * adapter requests them: `listen(server, { tls: { ...files, clientCa } })`.
   */
  signingAuthority(): Promise<string>
  /**
   * Serves the test server on a port, until it is closed.
   *
   * @example
   * import { listen } from '@krmkit/http'
   * import { createTestServer } from '@krmkit/testing'
   * const cluster = await createTestServer()
   * const listener = await cluster.listen((server) => listen(server, { tls: false }))
   */
  listen<L extends AsyncDisposable>(start: (server: { readonly handle: Handler }) => Promise<L>): Promise<L>
  /** The kubeconfig of the administrator, with the option `kubeconfig`. */
  readonly kubeconfig: KubeconfigFile | undefined
  /**
   * Writes a kubeconfig for kubectl, helm and clients in other processes, and serves the test server on a port with TLS
   * until it is closed. Programs that use timeouts need a running clock: `createTestServer({ clock: systemClock })`.
   *
   * @throws TestingError `UnknownUser`
   * @example
   * import { createTestServer } from '@krmkit/testing'
   * await using cluster = await createTestServer({ users: { bob: 'all' } })
   * const { path } = await cluster.writeKubeconfig({ user: 'bob', namespace: 'default' })
   */
  writeKubeconfig(options?: KubeconfigFileOptions): Promise<KubeconfigFile>
  /**
   * Writes all objects into a folder, one JSON file each, with the time of the clock. `createTestServer({ from: folder })` starts with exactly
   * this state: names, UIDs, status and owners of fields; only resource versions differ. Replaces what an earlier `save` has written.
   *
   * @throws TestingError `InvalidState` when the folder has other files
   * @example
   * import { createTestServer } from '@krmkit/testing'
   * await using cluster = await createTestServer({ cluster: { nodes: 3 } })
   * await cluster.save('three-nodes')
   * await using same = await createTestServer({ cluster: { nodes: 3 }, from: 'three-nodes' })
   */
  save(folder: string): Promise<void>
  /**
   * Fails a node of `cluster`: its heartbeats stop, its pods keep their state, and its kubelet is unreachable. `reset`
   * recovers it.
   *
   * @throws TestingError `UnknownNode`
   */
  failNode(name: string): void
  /** Recovers a failed node. @throws TestingError `UnknownNode` */
  recoverNode(name: string): void
  /**
   * Explains a field of an object: which recorded requests changed it, when, by which user, and in which step. Objects are
   * in the storage version.
   *
   * @param path `.spec.replicas`, `.spec.containers[name="web"].image`, `.metadata.labels["app.kubernetes.io/name"]`, or a JSON pointer
   * @throws TestingError `InvalidPath`
   * @example
   * import { ConfigMap } from '@krmkit/kinds/core/v1'
   * import { createTestServer } from '@krmkit/testing'
   * await using cluster = await createTestServer()
   * const object = await cluster.client.create(ConfigMap, { metadata: { name: 'web' }, data: { color: 'red' } })
   * cluster.explain(object, '.data.color').changes[0]?.step // 'body'
   */
  explain(object: ObjectReference, path: string): Explanation
  /**
   * Renders the recorded requests as one HTML page that needs no network: a timeline with the decisions about each request,
   * the history of each object with differences and field managers of each line, and the graph of owners.
   *
   * @returns the page; also written to `file`.
   * @example
   * import { createTestServer } from '@krmkit/testing'
   * await using cluster = await createTestServer()
   * await cluster.inspect({ file: 'inspector.html' })
   */
  inspect(options?: InspectOptions): Promise<string>
  /** Returns the current server; `reset` replaces it. */
  server(): Promise<EmbeddedServer>
  close(): Promise<void>
}

export interface RunOptions {
  /** Default: the administrator. */
  readonly user?: string | UserInfo
}

/** Allows verbs on resources or URLs. Empty or absent `namespaces` means all; `*` matches all values. */
export interface UserRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  /** `pods`, `pods/status`, `pods/*`, `*` */
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** The rules of a user, or `all` to allow everything. */
export type UserRules = 'all' | readonly UserRule[]

/** Server options that a test may set. Storage, clock, authentication and audit are set by the test server. */
export type ServerOptions = Omit<ApiServerOptions, 'storage' | 'clock' | 'authenticator' | 'audit'>

export interface TestServerOptions {
  /** Objects, or paths of manifest files and folders (YAML or JSON), that exist at the start and after `reset`. */
  readonly seed?: string | readonly (string | ApiObject)[]
  /**
   * Folder that `save` has written. The seed is applied afterwards. The clock starts at the saved time, unless `startAtMs`
   * is given.
   */
  readonly from?: string
  /** Serves on a port with TLS, and writes the kubeconfig of the administrator: `cluster.kubeconfig`. Default false. */
  readonly kubeconfig?: boolean
  /** Users besides the administrator. Absent: all users may do everything. */
  readonly users?: Readonly<Record<string, UserRules>>
  /**
   * Authenticates requests on a port with credentials other than those of `users`, such as tokens of an OpenID issuer.
   * Default: these requests are rejected.
   */
  readonly authenticator?: NonNullable<ApiServerOptions['authenticator']>
  /**
   * Controllers to run, as in `--controllers`; `[]` for none. Default: all except `deployment-controller`, because tests usually write
   * the status of deployments themselves.
   */
  readonly controllers?: readonly string[]
  /**
   * Simulated nodes: a scheduler binds pods to them, they run the pods, and all workload controllers run. `controllers` can
   * then exclude some with `-name`. Default: no nodes, so that no pod runs.
   */
  readonly cluster?: NodeSimulationOptions
  /** Clock of the server. Default: a clock that starts at the system time and stands still until `clock.advance`. */
  readonly clock?: Clock
  /** Start of the default clock, in milliseconds since the epoch. */
  readonly startAtMs?: number
  /** PEM for the root CA publisher. Default: nothing is published. */
  readonly rootCA?: string
  /** Issues the tokens of service account Secrets. Default: these Secrets are not processed. */
  readonly legacyToken?: LegacyTokenIssuer
  /**
   * Signers of certificates, which also authenticate clients. Default: the built-in signers with a temporary authority. `'none'`:
   * requests are not signed.
   */
  readonly signing?: CertificateSigning | 'none'
  /** Rules of automatic approvals and of the built-in signers. Default: those of kube-apiserver. */
  readonly signerRules?: SignerRules
  /** Metrics of autoscalers. Default: usage of resources from `metrics.k8s.io`, if it is served. */
  readonly metrics?: MetricsProvider
  /** The release to emulate, from `1.21` to `1.37`. Default: 1.33. */
  readonly emulate?: string
  /** Random faults. Default: none. */
  readonly faults?: RandomFaultOptions
  readonly server?: ServerOptions
  /** Number of newest requests whose decision trace is kept, for `explain` and `inspect`. 0 keeps none. Default 2000. */
  readonly traces?: number
  /** Receives errors of controllers and of the server. Default: errors are dropped. */
  readonly onError?: (error: unknown) => void
}
