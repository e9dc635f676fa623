export * from '@krmkit/storage/socket'
