export * from '@krmkit/schema/protobuf'
