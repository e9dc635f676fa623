export type { StoredCollection, StoredForm } from '../follower/stored-form.ts'
export type { EtcdTls } from './endpoints.ts'
export { type EtcdStorageOptions, etcdStorage } from './etcd-storage.ts'
