/** The credentials of a client. */
export interface Credentials {
  readonly token?: string
  /** PEM of a client certificate; set together with `key`. */
  readonly certificate?: string
  readonly key?: string
}

/** A source of credentials that change while the client runs. */
export interface CredentialSource {
  /** Returns the current credentials, cached while they are valid. @throws ClientError `CredentialsFailed` */
  get(): Promise<Credentials>
  /** Replaces credentials that the server rejected. Resolves to whether different credentials are available now. */
  renew(credentials: Credentials): Promise<boolean>
  close?(): void
}
