export * from '@krmkit/fieldmanager/offline'
