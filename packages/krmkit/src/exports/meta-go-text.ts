export * from '@krmkit/meta/go-text'
