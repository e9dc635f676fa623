/** What a client shows a server to say who it is. */
export interface Credentials {
  readonly token?: string
  /** PEM of a client certificate and its key; both or none. */
  readonly certificate?: string
  readonly key?: string
}

/** Where credentials come from that change while the client runs. */
export interface CredentialSource {
  /** The current ones; asking again costs nothing while they are good. @throws ClientError `CredentialsFailed` */
  get(): Promise<Credentials>
  /** The server refused these. Resolves to whether there are others now, with which it is worth asking again. */
  refused(credentials: Credentials): Promise<boolean>
  close?(): void
}
