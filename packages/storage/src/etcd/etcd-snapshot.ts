import type { RandomAccessFile } from '../bbolt/bolt-reader.ts'
import { hasBoltMagic, headBytes } from '../bbolt/page-format.ts'
import type { ExportedEntries, ExportFormat } from '../exchange/export-format.ts'
import { opaqueForm, type StoredForm, transformedForm } from '../follower/stored-form.ts'
import { identityTransformer, type ValueTransformer } from '../value-transformer.ts'
import { defaultPrefix, Layout } from './layout.ts'
import type { SnapshotPlaces } from './snapshot/write-snapshot.ts'

export interface EtcdSnapshotOptions {
  /** Root of all keys. Default `/registry`. */
  readonly prefix?: string
  /** Converts values and maps keys. Default: values are stored unchanged, below the root. */
  readonly form?: StoredForm
  /** Encrypts and decrypts the values in the snapshot. Default: values are in clear. */
  readonly transformer?: ValueTransformer
}

export interface EtcdSnapshotReadOptions extends EtcdSnapshotOptions {
  /** Whether to accept a file without a checksum, such as `member/snap/db` of a stopped etcd. Default false. */
  readonly skipHashCheck?: boolean
  /** Called with each key below the root whose value is not an object of a known kind. */
  readonly onSkipped?: (key: string) => void
}

/** The number of bytes that `isEtcdSnapshot` needs. */
export const etcdSnapshotHeadBytes = headBytes

/**
 * Whether a file that begins with these bytes can be a snapshot of etcd.
 *
 * @example
 * import { etcdSnapshotHeadBytes, isEtcdSnapshot } from '@krmkit/storage/etcd'
 * isEtcdSnapshot(new TextEncoder().encode('{"krmkitExport":1,"revision":42}'.padEnd(etcdSnapshotHeadBytes))) // false
 */
export function isEtcdSnapshot(head: Uint8Array): boolean {
  return hasBoltMagic(Buffer.from(head.buffer, head.byteOffset, head.byteLength))
}

/**
 * Writes an export as a snapshot of etcd, which `etcdutl snapshot restore` turns into the data of a new cluster. Objects keep their
 * revisions. The cluster continues after the revision of the export and has no earlier history. Keys with a limited lifetime get their full
 * lifetime when the cluster starts.
 *
 * @example
 * import { createWriteStream } from 'node:fs'
 * import { exportLmdb } from '@krmkit/storage'
 * import { etcdSnapshotFormat } from '@krmkit/storage/etcd'
 * const file = createWriteStream('snapshot.db')
 * const write = (chunk: Uint8Array) =>
 *   new Promise<void>((resolve, reject) => file.write(chunk, (error) => (error ? reject(error) : resolve())))
 * await exportLmdb({ dir: '.krmkit/data', write, format: etcdSnapshotFormat() })
 * file.end()
 */
export function etcdSnapshotFormat(options: EtcdSnapshotOptions = {}): ExportFormat {
  return async (entries, target) => {
    const { writeSnapshot } = await import('./snapshot/write-snapshot.ts')
    return writeSnapshot(entries, { ...target, places: placesOf(options) })
  }
}

/**
 * Reads the objects of a snapshot of etcd at its newest revision, for `importLmdb` or `importStorage`. Objects keep their revisions. Of
 * several keys that one transaction wrote, all but one get revisions after the newest.
 *
 * @throws StorageError `Unavailable`: `foreign` for other files, `corrupt` for damaged ones, `encryption`
 * @example
 * import { open } from 'node:fs/promises'
 * import { importLmdb } from '@krmkit/storage'
 * import { readEtcdSnapshot } from '@krmkit/storage/etcd'
 * const file = await open('snapshot.db')
 * const { size } = await file.stat()
 * const read = async (at: number, length: number) => {
 *   const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
 *   return buffer.subarray(0, bytesRead)
 * }
 * await importLmdb({ dir: 'imported/data', entries: readEtcdSnapshot({ size, read }) })
 */
export async function* readEtcdSnapshot(file: RandomAccessFile, options: EtcdSnapshotReadOptions = {}): ExportedEntries {
  const { transformer = identityTransformer, skipHashCheck = false, onSkipped = () => undefined } = options
  const { readSnapshot } = await import('./snapshot/read-snapshot.ts')
  return yield* readSnapshot(file, { ...placesOf(options), transformer, skipHashCheck, onSkipped })
}

function placesOf(options: EtcdSnapshotOptions): SnapshotPlaces {
  const { form = opaqueForm, transformer = identityTransformer } = options
  const layout = new Layout(options.prefix ?? defaultPrefix, form.collections)
  return { layout, form: transformedForm(form, transformer, (key) => layout.toEtcd(key)) }
}
