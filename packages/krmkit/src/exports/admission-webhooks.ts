export * from '@krmkit/admission/webhooks'
