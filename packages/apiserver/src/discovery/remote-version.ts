/** A group version of another server, as discovery shows it. */
export interface RemoteVersion {
  readonly group: string
  readonly version: string
  readonly groupPriority: number
  readonly versionPriority: number
  /** `APIResourceDiscovery` objects; undefined until fetched. */
  readonly resources: readonly object[] | undefined
  /** Whether the last fetch succeeded. */
  readonly current: boolean
}
