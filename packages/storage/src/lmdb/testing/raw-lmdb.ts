import { open } from 'lmdb'

/** The LMDB library without this package, for comparisons: a put resolves when the value is on disk. */
export interface RawLmdb {
  put(key: string, value: Uint8Array): Promise<boolean>
  close(): Promise<void>
}

/** Opens a new database in a directory. */
export function openRawLmdb(dir: string): RawLmdb {
  const database = open<Buffer, string>({ path: dir, noSubdir: false, encoding: 'binary', overlappingSync: false })
  return { put: (key, value) => database.put(key, Buffer.from(value)), close: () => database.close() }
}
