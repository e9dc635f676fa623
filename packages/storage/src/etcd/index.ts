export type { RandomAccessFile } from '../bbolt/bolt-reader.ts'
export type { StoredCollection, StoredForm } from '../follower/stored-form.ts'
export {
  type EtcdSnapshotOptions,
  type EtcdSnapshotReadOptions,
  etcdSnapshotFormat,
  etcdSnapshotHeadBytes,
  isEtcdSnapshot,
  readEtcdSnapshot,
} from './etcd-snapshot.ts'
export { type EtcdStorageOptions, type EtcdTls, etcdStorage } from './etcd-storage.ts'
