import type { ApiServerOptions, EmbeddedServer } from '@krmkit/apiserver'
import type { Client } from '@krmkit/client'
import type { CertificateSigning, LegacyTokenIssuer } from '@krmkit/controllers'
import type { ApiObject, Clock, UserInfo } from '@krmkit/meta'
import type { Handler } from '@krmkit/protocol'
import type { Faults } from './faults.ts'
import type { Ledger } from './ledger.ts'
import type { TestClock } from './test-clock.ts'

/** A real API server for one test: in this process, in memory, with its own time. */
export interface TestServer extends AsyncDisposable {
  /** Of an administrator. */
  readonly client: Client
  /** Everything the server can be asked; what clients, adapters and `listen` use. */
  readonly handle: Handler
  readonly clock: TestClock
  readonly ledger: Ledger
  readonly faults: Faults
  /** A client of somebody else. @throws TestingError `UnknownUser` for a name that `users` does not have. */
  as(user: string | UserInfo): Client
  /** A bearer token by which a client on a port is that user. @throws TestingError `UnknownUser` */
  tokenOf(user: string | UserInfo): string
  /**
   * A second server with the same objects at this moment, and nothing in common from now on. A pointer copy, whatever the
   * number of objects.
   */
  fork(): TestServer
  /** Back to the state after the seed: objects, time, ledger and faults. Watches end. */
  reset(): Promise<void>
  /**
   * Resolves when nothing happens any more until somebody writes or time passes: no request is under way, watches have told
   * everything, and controllers have nothing left to do.
   */
  settle(): Promise<void>
  /**
   * PEM of the authority behind the built-in signers: a client on a port that comes with a certificate of theirs is known by it, when
   * the adapter asks for certificates: `listen(served, { tls: { ...files, clientCa } })`.
   */
  signingAuthority(): Promise<string>
  /** Puts the server on a port by an adapter, `(served) => listen(served, { tls: false })`; closed with the test server. */
  listen<L extends AsyncDisposable>(start: (served: { readonly handle: Handler }) => Promise<L>): Promise<L>
  /** The server behind `handle`, as it is now: `reset` brings another. */
  server(): Promise<EmbeddedServer>
  close(): Promise<void>
}

/** May do these verbs on these things; empty or absent `namespaces` means everywhere. `*` stands for all. */
export interface UserRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  /** `pods`, `pods/status`, `pods/*`, `*` */
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** Who may do what: rules, or `all` for everything. */
export type UserRules = 'all' | readonly UserRule[]

/** Options of the server itself that a test may set; storage, clock and authentication are the test server's. */
export type ServerOptions = Omit<ApiServerOptions, 'storage' | 'clock' | 'authenticator' | 'audit'>

export interface TestServerOptions {
  /** Objects, or files and folders of manifests (YAML or JSON): there from the beginning, and after every `reset`. */
  readonly seed?: string | readonly (string | ApiObject)[]
  /** People besides the administrator. Without it everybody may do everything. */
  readonly users?: Readonly<Record<string, UserRules>>
  /**
   * Which controllers run, as `--controllers` names them; `[]` for none. Default all but `deployment-controller`: tests that play the
   * part of a cluster write the status of deployments themselves.
   */
  readonly controllers?: readonly string[]
  /** Default: a clock that stands still until `clock.advance`, at the time of the machine. */
  readonly clock?: Clock
  /** Where the default clock starts: milliseconds since the epoch. */
  readonly startAtMs?: number
  /** What the root CA publisher publishes. Default: nothing. */
  readonly rootCA?: string
  /** Makes the tokens that Secrets of service accounts hold. Default: such Secrets are left alone. */
  readonly legacyToken?: LegacyTokenIssuer
  /**
   * Who signs certificates, and callers with such a certificate are known by it. Default: the signers that come with a server, with an
   * authority of the moment; `'none'`: requests stay as they are.
   */
  readonly signing?: CertificateSigning | 'none'
  readonly server?: ServerOptions
  /** Told of failures that go to nobody else: of controllers, and faults of the server. Default: they are dropped. */
  readonly onError?: (error: unknown) => void
}
