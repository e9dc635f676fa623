export * from '@krmkit/fieldmanager/merge'
