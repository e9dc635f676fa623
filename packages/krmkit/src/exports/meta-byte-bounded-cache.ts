export * from '@krmkit/meta/byte-bounded-cache'
