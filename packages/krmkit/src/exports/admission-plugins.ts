export * from '@krmkit/admission/plugins'
