import type { BoundObject } from './issuer.ts'

/** The fields of an object that token validation reads. */
export interface FoundObject {
  readonly uid: string
  readonly deletionTimestamp?: string | null
  readonly labels?: Readonly<Record<string, string>>
  /** For Secrets: `data`, with base64 values. */
  readonly data?: Readonly<Record<string, string>>
  /** For service accounts: names of referenced Secrets. */
  readonly secrets?: readonly string[]
}

/** Returns the current state of an object that tokens are bound to. */
export type ObjectLookup = (
  kind: 'ServiceAccount' | BoundObject['kind'],
  namespace: string,
  name: string,
) => FoundObject | undefined
