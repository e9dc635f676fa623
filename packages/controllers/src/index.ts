export { simulatedServerOptions } from './node-simulation/server-options.ts'
export * from './portable.ts'
