export * from '@krmkit/storage/etcd'
