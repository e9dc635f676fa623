import type { ApiServerOptions, EmbeddedServer } from '@krmkit/apiserver'
import type { SignerRules } from '@krmkit/certificates'
import type { Client } from '@krmkit/client'
import type { CertificateSigning, LegacyTokenIssuer, MetricsProvider, NodeSimulationOptions } from '@krmkit/controllers'
import type { ApiObject, Clock, UserInfo } from '@krmkit/meta'
import type { Handler } from '@krmkit/protocol'
import type { Faults } from './faults.ts'
import type { Ledger } from './ledger.ts'
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
   * Creates an independent server with the current objects. Copies pointers, regardless of the number of objects.
   */
  fork(): TestServer
  /** Restores the state after the seed: objects, time, ledger and faults. Ends watches. */
  reset(): Promise<void>
  /**
   * Resolves when the server is idle until the next write or timer: no requests in flight, all watch events delivered, controllers
   * done.
   */
  settle(): Promise<void>
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
  /**
   * Fails a node of `cluster`: its heartbeats stop, its pods stay as they are, and its kubelet does not answer. `reset` recovers it.
   *
   * @throws TestingError `UnknownNode`
   */
  failNode(name: string): void
  /** Recovers a failed node. @throws TestingError `UnknownNode` */
  recoverNode(name: string): void
  /** Returns the current server; `reset` replaces it. */
  server(): Promise<EmbeddedServer>
  close(): Promise<void>
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

/** Server options that a test may set; the test server sets storage, clock, authentication and audit. */
export type ServerOptions = Omit<ApiServerOptions, 'storage' | 'clock' | 'authenticator' | 'audit'>

export interface TestServerOptions {
  /** Objects, or paths of manifest files and folders (YAML or JSON), that exist at the start and after `reset`. */
  readonly seed?: string | readonly (string | ApiObject)[]
  /** Users besides the administrator. Absent: all users may do everything. */
  readonly users?: Readonly<Record<string, UserRules>>
  /**
   * Controllers to run, as in `--controllers`; `[]` for none. Default: all except `deployment-controller`, because tests usually write
   * the status of deployments themselves.
   */
  readonly controllers?: readonly string[]
  /**
   * Simulated nodes: a scheduler binds pods to them, they run the pods, and all workload controllers run. `controllers` then excludes
   * some with `-name`. Default: none, so that no pod runs.
   */
  readonly cluster?: NodeSimulationOptions
  /** Clock of the server. Default: a clock that starts at the system time and stands still until `clock.advance`. */
  readonly clock?: Clock
  /** Start of the default clock, in milliseconds since the epoch. */
  readonly startAtMs?: number
  /** PEM for the root CA publisher. Default: nothing is published. */
  readonly rootCA?: string
  /** Issues the tokens of service account Secrets. Default: such Secrets are not processed. */
  readonly legacyToken?: LegacyTokenIssuer
  /**
   * Signers of certificates, which also authenticate clients. Default: the built-in signers with a temporary authority. `'none'`:
   * requests are not signed.
   */
  readonly signing?: CertificateSigning | 'none'
  /** Rules of automatic approvals and of the built-in signers. Default: those of the stock server. */
  readonly signerRules?: SignerRules
  /** Metrics of autoscalers. Default: usage of resources from `metrics.k8s.io`, where it is served. */
  readonly metrics?: MetricsProvider
  /** The release to behave like, from `1.21` to `1.33`. Default: 1.33. */
  readonly emulate?: string
  readonly server?: ServerOptions
  /** Receives errors of controllers and of the server. Default: they are dropped. */
  readonly onError?: (error: unknown) => void
}
