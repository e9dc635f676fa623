export * from '@krmkit/kinds/protobuf'
