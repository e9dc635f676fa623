export * from '@krmkit/meta/hpack'
