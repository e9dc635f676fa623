import type { CborCodec } from './codec.ts'

/**
 * CBOR (RFC 8949) as Kubernetes writes it: strings are byte strings, binary values are tagged for base64, and a document
 * begins with the self-described CBOR tag. The library is loaded on first use.
 */

export type { CborCodec, PacedCborCodec } from './codec.ts'

let loading: Promise<CborCodec> | undefined

/**
 * Loads the codec; repeated calls share one load.
 *
 * @example
 * import { loadCbor } from '@krmkit/schema/cbor'
 * const cbor = await loadCbor()
 * const bytes = cbor.encode({ kind: 'ConfigMap', data: { a: 'b' } })
 * cbor.decode(bytes) // { data: { a: 'b' }, kind: 'ConfigMap' }
 */
export function loadCbor(): Promise<CborCodec> {
  loading ??= import('./codec.ts').then(({ cborCodec }) => cborCodec)
  return loading
}
