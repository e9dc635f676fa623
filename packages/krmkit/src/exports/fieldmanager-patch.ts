export * from '@krmkit/fieldmanager/patch'
