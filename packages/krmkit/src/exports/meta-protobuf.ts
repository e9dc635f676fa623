export * from '@krmkit/meta/protobuf'
