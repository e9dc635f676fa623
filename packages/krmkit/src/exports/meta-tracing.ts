export * from '@krmkit/meta/tracing'
